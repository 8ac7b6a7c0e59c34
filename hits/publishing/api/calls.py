"""The marketplace account: its calls and its balance. They belong to no project."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.response import Response

from hits.api.base import LeadView, operation
from hits.api.paging import asked
from hits.mturk.calls import Window
from hits.publishing.api import shapes
from hits.publishing.rules.marketplace_account import gateway

TAG = "Marketplace account"


def described(window: Window) -> dict[str, Any]:
    """What the account called, in the API's shape. Raises CredentialsError."""
    market = gateway()
    pace, report = market.pace(), market.calls(window)
    return dict(
        shapes.MarketplaceCallsShape({"endpoint": settings.MTURK_ENDPOINT_URL, **vars(pace), **vars(report)}).data
    )


class MarketplaceCalls(LeadView):
    @operation(
        "marketplace_calls",
        "How many calls the installation made, how they ended and how fast it may call",
        tag=TAG,
        query=shapes.CallsQuery,
        answer=shapes.MarketplaceCallsShape,
        refuses=[503],
    )
    def get(self, request: Request) -> Response:
        return Response(described(Window(asked(request, shapes.CallsQuery)["window"])))


class MarketplaceBalance(LeadView):
    heavy = frozenset({"GET"})

    @operation(
        "marketplace_balance",
        "The money of the marketplace account; asks the marketplace",
        tag=TAG,
        answer=shapes.BalanceShape,
        refuses=[409, 503],
    )
    def get(self, request: Request) -> Response:
        return Response(shapes.BalanceShape(gateway().balance()).data)
