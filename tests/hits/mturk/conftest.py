"""A marketplace that fails on demand, and gateways that reach it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator

import boto3
import pytest

from hits.mturk import gateway
from hits.mturk.gateway import Gateway, Limits
from tests.hits.broker import Broker
from tests.hits.market import Marketplace
from tests.marketplace.controls import TestControls


@pytest.fixture(scope="session")
def own_market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Marketplace]:
    running = Marketplace(tmp_path_factory.mktemp("failing-marketplace"), MARKETPLACE_TEST_CONTROLS="True")
    running.start()
    yield running
    running.close()


@pytest.fixture
def controls(own_market: Marketplace) -> Iterator[TestControls]:
    """Of the marketplace that `connect` reaches. Nothing fails and nothing was counted yet."""
    found = TestControls(own_market.url)
    found.turn(reset=True)
    yield found
    found.turn(reset=True)


Connect = Callable[..., Gateway]


@pytest.fixture
def connect(
    own_market: Marketplace, controls: TestControls, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> Connect:
    """Gateways of one new account, with the test's own limits; each call of it makes a process's own gateway."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", f"TEST{secrets.token_hex(8).upper()}")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret-for-tests")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    # The test's own limits hold for every call, also where a person waits for a page.
    monkeypatch.setattr(gateway, "QUICK_TIMEOUT_SECONDS", 600)
    monkeypatch.setattr(gateway, "QUICK_DEADLINE_SECONDS", 600)

    def make(**changed: float) -> Gateway:
        limits = {
            "connections": 8,
            "timeout_seconds": 60,
            "deadline_seconds": 90,
            "calls_a_second": 1000,
            "most_calls_a_second": 1000,
        }
        given = Limits(**{**limits, **changed})  # type: ignore[arg-type]
        return Gateway(own_market.url, region="us-east-1", redis_url=broker.url, limits=given)

    return make
