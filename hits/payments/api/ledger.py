"""The ledger, and its comparison with the marketplace."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import ProjectView, Started, operation, started
from hits.api.paging import PageQuery, asked, page, page_of
from hits.core.jobs import queue
from hits.payments.api import shapes
from hits.payments.rules import ledger_lists
from hits.payments.rules.ledger_lists import EntryFilter
from hits.payments.verbs import checking_ledger

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
        given = self.body(shapes.NewLedgerCheck)
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
