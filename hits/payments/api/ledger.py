"""The ledger, its comparison with the marketplace, and decisions on requests for money."""

from __future__ import annotations

from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import ProjectView, Started, operation, started
from hits.api.paging import PageQuery, asked, page, page_of, sent
from hits.core.jobs import queue
from hits.models import BudgetRequest
from hits.payments.api import shapes
from hits.payments.jobs import approve_request
from hits.payments.rules import ledger_lists
from hits.payments.rules.budget_requests import find
from hits.payments.rules.ledger_lists import EntryFilter
from hits.payments.verbs import checking_ledger, requesting_budget

TAG = "Money"


class Ledger(ProjectView):
    @operation(
        "ledger_list",
        "Every movement of the project's money; they add up to its account",
        tag=TAG,
        query=shapes.LedgerQuery,
        answer=page_of(shapes.LedgerShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        wanted = asked(request, shapes.LedgerQuery)
        names = ("kind", "stage", "worker", "since", "until")
        narrowed = EntryFilter(**{name: wanted[name] for name in names if wanted.get(name)})
        rows = ledger_lists.chosen(self.project, narrowed).select_related("stage", "hit", "assignment")
        return page(request, rows, shapes.LedgerShape)


class LedgerChecks(ProjectView):
    heavy = frozenset({"POST"})

    @operation(
        "ledger_checks_list",
        "Comparisons of the books with the marketplace",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.LedgerCheckShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.project.ledger_checks.select_related("created_by"), shapes.LedgerCheckShape)

    @operation(
        "ledger_checks_create",
        "Compare the books with the marketplace; while one comparison is under way, that one is meant",
        tag=TAG,
        takes=shapes.NewLedgerCheck,
        code=202,
        answer=Started,
        refuses=[404],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = sent(request, shapes.NewLedgerCheck)
        row = checking_ledger.begin(self.project, self.user, deep=given["deep"])
        queue.start(tasks.check_ledger, row.pk)
        return started("The books are being compared.", f"{self.address('ledger-checks')}{row.pk}/")


class LedgerCheckDetail(ProjectView):
    @operation(
        "ledger_checks_show",
        "How far a comparison is, its sums, and every difference with what to do about it",
        tag=TAG,
        answer=shapes.LedgerCheckDetailShape,
        refuses=[404],
    )
    def get(self, request: Request, pk: int, **address: str) -> Response:
        row = get_object_or_404(self.project.ledger_checks.select_related("created_by"), pk=pk)
        return Response(shapes.LedgerCheckDetailShape(row).data)


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
        given = sent(request, shapes.BudgetApproval)
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
        given = sent(request, shapes.Refusal)
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
