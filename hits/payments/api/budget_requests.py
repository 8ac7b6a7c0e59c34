"""Requests for money: asked by `PUT budget/` and `POST publish/`, decided here."""

from __future__ import annotations

from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import ProjectView, operation
from hits.api.paging import PageQuery, page, page_of
from hits.core.jobs import queue
from hits.models import BudgetRequest
from hits.payments.api import shapes
from hits.payments.jobs.budget_requests import approve_request
from hits.payments.rules.budget_requests import find
from hits.payments.verbs import requesting_budget
from hits.projects.api.shapes import MayBudget as MayBudgetShape
from hits.projects.api.shapes import MemberShape
from hits.projects.verbs import members

TAG = "Money"


# `self.row(pk)` is a request of the caller's project.
class RequestView(ProjectView):
    def row(self, pk: int) -> BudgetRequest:
        found = find(self.project, pk)
        if found is None:
            raise Http404
        return found


class Requests(ProjectView):
    @operation(
        "budget_requests_list",
        "Requests for more money than somebody may budget",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.BudgetRequestShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        rows = self.project.budget_requests.select_related("asked_by", "decided_by", "stage")
        return page(request, rows, shapes.BudgetRequestShape)


class Approve(RequestView):
    pays = frozenset({"POST"})

    @operation(
        "budget_requests_approve",
        "Approve a request: the budget is raised as far as it needs, and a batch that was asked for is published",
        tag=TAG,
        takes=shapes.BudgetApproval,
        answer=shapes.BudgetRequestShape,
        refuses=[403, 404, 409],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        given = self.body(shapes.BudgetApproval)
        row = self.row(pk)
        batch = approve_request(row, self.user, given["reason"])
        if batch:
            queue.start(tasks.publish_batch, batch.pk)
        row.refresh_from_db()
        return Response(shapes.BudgetRequestShape(row).data)


class Decline(RequestView):
    pays = frozenset({"POST"})

    @operation(
        "budget_requests_decline",
        "Decline a request, with a reason that the person who asked reads",
        tag=TAG,
        takes=shapes.Refusal,
        answer=shapes.BudgetRequestShape,
        refuses=[403, 404, 409],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        given = self.body(shapes.Refusal)
        row = self.row(pk)
        requesting_budget.decline(row, self.user, given["reason"])
        return Response(shapes.BudgetRequestShape(row).data)


class Withdraw(RequestView):
    pays = frozenset({"POST"})

    @operation(
        "budget_requests_withdraw",
        "Withdraw a request of one's own",
        tag=TAG,
        answer=shapes.BudgetRequestShape,
        refuses=[403, 404, 409],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        row = self.row(pk)
        requesting_budget.withdraw(row, self.user)
        return Response(shapes.BudgetRequestShape(row).data)


class MayBudget(ProjectView):
    pays = frozenset({"PUT"})

    @operation(
        "members_may_budget",
        "Say how high a member who is no owner may set the budget; the budget stays as it is",
        tag=TAG,
        takes=MayBudgetShape,
        answer=MemberShape,
        refuses=[403, 404],
    )
    def put(self, request: Request, username: str, **address: str) -> Response:
        given = self.body(MayBudgetShape)
        row = get_object_or_404(members.members(self.project), user__username=username)
        requesting_budget.allow(self.project, row.user, given["may_budget"], self.user)
        return Response(MemberShape(members.members(self.project).get(pk=row.pk)).data)
