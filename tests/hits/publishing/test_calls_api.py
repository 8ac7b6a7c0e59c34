"""The account's calls and balance, as JSON."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from hits.publishing.rules import marketplace_account
from tests.hits.broker import Broker
from tests.hits.market import Marketplace

CALLS, BALANCE = "/api/marketplace-calls/", "/api/marketplace-balance/"


@pytest.fixture
def counted(market: Marketplace, broker: Broker, settings: Any) -> Broker:
    settings.REDIS_URL = broker.url
    marketplace_account.gateway.cache_clear()
    return broker


def test_the_balance_is_text(api: APIClient, counted: Broker) -> None:
    assert api.get(BALANCE).json()["available"] == "10000.00"


def test_calls_are_told_by_operation_and_over_time(api: APIClient, counted: Broker) -> None:
    for _ in range(4):
        api.get(BALANCE)
    found = api.get(CALLS, {"window": "day"}).json()
    assert (found["shared"], found["known"], found["throttled_at"]) == (True, True, None)
    assert [(row["operation"], row["calls"]) for row in found["operations"]] == [("GetAccountBalance", 4)]
    assert found["total"]["calls"] == sum(point["calls"] for point in found["timeline"]) == 4
    assert 0 < found["total"]["median_ms"] <= found["total"]["p95_ms"]


def test_without_redis_the_answer_says_that_nothing_is_known(api: APIClient, counted: Broker) -> None:
    counted.kill()
    found = api.get(CALLS).json()
    assert (found["shared"], found["known"], found["operations"]) == (False, False, [])


def test_an_unknown_window_is_refused(api: APIClient) -> None:
    answer = api.get(CALLS, {"window": "year"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid")


def test_a_silent_marketplace_is_told_in_the_shape_of_refusals(api: APIClient, settings: Any, market: object) -> None:
    settings.MTURK_ENDPOINT_URL = "http://127.0.0.1:9"
    marketplace_account.gateway.cache_clear()
    answer = api.get(BALANCE)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "marketplace_unreachable")
