"""The page of the marketplace account's calls, with figures of a real marketplace in a real Redis."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.models import Batch
from hits.mturk.errors import RefusedError
from hits.publishing.rules import marketplace_account
from tests.hits import factories as make
from tests.hits.broker import Broker
from tests.hits.market import Marketplace
from tests.hits.world import World
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
PAGE = "marketplace-calls"


@pytest.fixture
def counted(market: Marketplace, broker: Broker, settings: Any) -> Broker:
    """The gateway keeps its figures in the test's own Redis."""
    settings.REDIS_URL = broker.url
    marketplace_account.gateway.cache_clear()
    return broker


def _text(client: Client, query: str = "") -> str:
    reply = client.get(reverse(PAGE) + query)
    assert reply.status_code == 200
    return squeezed(reply)


def test_before_the_first_call_it_says_what_will_be_counted(counted: Broker, lead_client: Client) -> None:
    text = _text(lead_client)
    assert "No calls since" in text and "each call is counted here" in text


@pytest.mark.parametrize("window", ["hour", "day", "week"])
def test_calls_are_listed_by_operation(counted: Broker, lead_client: Client, window: str) -> None:
    for _ in range(3):
        marketplace_account.gateway().balance()
    with pytest.raises(RefusedError):
        marketplace_account.gateway().hit("3AAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
    text = _text(lead_client, f"?window={window}")
    assert '<td>GetAccountBalance</td><td class="n">3</td><td class="n">75.0 %</td>' in text
    assert "<td>GetHIT</td>" in text
    assert "Calls a " + ("minute" if window == "hour" else "hour") in text


def test_an_unknown_window_shows_the_last_hour(counted: Broker, lead_client: Client) -> None:
    assert '<a href="?window=hour" aria-current="true">' in _text(lead_client, "?window=<script>")


def test_the_page_calls_nothing_and_the_balance_comes_after_it(counted: Broker, lead_client: Client) -> None:
    assert "$10,000.00" not in _text(lead_client)
    assert "No calls since" in _text(lead_client)
    assert "$10,000.00" in lead_client.get(reverse("marketplace-balance")).content.decode()
    assert "$10,000.00" in _text(lead_client, "?balance=ask")


def test_it_says_when_the_marketplace_slowed_the_account(counted: Broker, lead_client: Client) -> None:
    assert "<strong>never</strong>" in _text(lead_client)
    marketplace_account.gateway()._limiter.throttled()
    assert "<strong>never</strong>" not in _text(lead_client)


def test_without_redis_it_says_that_calls_go_on(counted: Broker, lead_client: Client) -> None:
    counted.kill()
    text = _text(lead_client)
    assert "Redis does not answer. Calls go on" in text and "The figures are out of reach" in text


def test_a_marketplace_that_is_down_leaves_the_page_whole(counted: Broker, lead_client: Client, settings: Any) -> None:
    settings.MTURK_ENDPOINT_URL = "http://127.0.0.1:9"
    marketplace_account.gateway.cache_clear()
    assert "does not answer" in lead_client.get(reverse("marketplace-balance")).content.decode()
    assert "FAILED" not in _text(lead_client)


def test_publishing_that_is_slowed_says_so(counted: Broker, world: World, lead_client: Client) -> None:
    make.batch(world.stage, total=100, done=10, state=Batch.State.PUBLISHING)
    assert "slows us" not in lead_client.get(world.url("stage-progress")).content.decode()
    marketplace_account.gateway()._limiter.throttled()
    rate = marketplace_account.gateway().pace().rate
    assert f"slows us to {rate:,.0f} calls a second" in lead_client.get(world.url("stage-progress")).content.decode()
