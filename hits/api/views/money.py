"""The ledger."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from hits.api import serializers
from hits.api.base import ProjectView, operation
from hits.api.paging import PageQuery, page, page_of

TAG = "Money"


class Ledger(ProjectView):
    @operation(
        "ledger_list",
        "Every movement of the project's money; they add up to its account",
        tag=TAG,
        query=PageQuery,
        answer=page_of(serializers.LedgerShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.project.ledger.select_related("stage", "hit", "assignment"), serializers.LedgerShape)
