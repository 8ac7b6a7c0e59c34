"""Faults on demand, as a real client meets them; with its own retries it gets through."""

import time
from typing import Any

import pytest
from botocore.exceptions import BotoCoreError, ClientError, ConnectionClosedError, HTTPClientError

from marketplace.models import Hit
from tests.marketplace.conftest import QUESTION
from tests.marketplace.controls import TestControls

HIT = {
    "LifetimeInSeconds": 600,
    "AssignmentDurationInSeconds": 60,
    "Reward": "0.05",
    "Title": "t",
    "Description": "d",
    "Question": QUESTION,
}


@pytest.fixture
def controls(live_server: Any, settings: Any) -> TestControls:
    settings.MARKETPLACE_TEST_CONTROLS = True
    return TestControls(live_server.url)


def error_of(work: Any) -> tuple[int, str]:
    with pytest.raises(ClientError) as caught:
        work()
    return caught.value.response["ResponseMetadata"]["HTTPStatusCode"], caught.value.response["Error"]["Code"]


@pytest.mark.parametrize(("kind", "made"), [("error_before", 0), ("error_after", 1)])
def test_an_error_before_does_nothing_and_one_after_has_done_it(
    controls: TestControls, mturk: Any, kind: str, made: int
) -> None:
    controls.fail(kind, "CreateHIT")
    assert mturk.get_account_balance()["AvailableBalance"] == "10000.00"
    assert error_of(lambda: mturk.create_hit(**HIT)) == (500, "ServiceFault")
    assert Hit.objects.count() == made
    mturk.create_hit(**HIT)
    assert controls.counts() == {"CreateHIT": 2, "GetAccountBalance": 1}


@pytest.mark.parametrize(("kind", "made"), [("reset_before", 0), ("drop_after", 1)])
def test_a_connection_that_ends_brings_no_byte(controls: TestControls, mturk: Any, kind: str, made: int) -> None:
    controls.fail(kind)
    with pytest.raises((ConnectionClosedError, HTTPClientError)) as caught:
        mturk.create_hit(**HIT)
    assert isinstance(caught.value, BotoCoreError)
    assert Hit.objects.count() == made


def test_the_clients_own_retries_get_through_with_a_token(controls: TestControls, connect: Any, mturk: Any) -> None:
    """The first attempt made the HIT; the second is told so. Without a token there would be two."""
    client = connect(retries={"mode": "standard", "max_attempts": 3})
    controls.fail("drop_after", "CreateHIT")
    assert error_of(lambda: client.create_hit(**HIT, UniqueRequestToken="t")) == (400, "RequestError")
    controls.fail("error_after", "CreateHIT")
    client.create_hit(**HIT)
    assert Hit.objects.count() == 3


def test_throttling_is_an_error_that_clients_retry(controls: TestControls, connect: Any, mturk: Any) -> None:
    controls.fail("throttle", "GetAccountBalance")
    assert error_of(mturk.get_account_balance) == (400, "ThrottlingException")
    controls.fail("throttle", "GetAccountBalance")
    answer = connect(retries={"mode": "standard", "max_attempts": 3}).get_account_balance()
    assert answer["ResponseMetadata"]["RetryAttempts"] == 1


@pytest.mark.parametrize("retries", [{"mode": "legacy"}, {"mode": "standard"}, {"max_attempts": 25}], ids=str)
def test_a_fault_that_passes_is_retried_and_a_mistake_is_not(
    controls: TestControls, connect: Any, mturk: Any, retries: dict[str, Any]
) -> None:
    client = connect(retries=retries)
    controls.fail("error_before", "GetAccountBalance", count=2)
    assert client.get_account_balance()["ResponseMetadata"]["RetryAttempts"] == 2
    with pytest.raises(ClientError, match="ParameterValidationError"):
        client.create_hit(**HIT | {"Question": "<no"})
    assert controls.counts() == {"CreateHIT": 1, "GetAccountBalance": 3}


def test_latency_delays_and_comes_on_top_of_other_faults(controls: TestControls, mturk: Any) -> None:
    controls.turn(faults=[{"kind": "latency", "milliseconds": 300}, {"kind": "error_before", "count": 1}])
    start = time.monotonic()
    assert error_of(mturk.get_account_balance) == (500, "ServiceFault")
    assert 0.3 <= time.monotonic() - start < 300


def test_a_probability_is_kept_and_a_seed_repeats_the_run(controls: TestControls, mturk: Any) -> None:
    def run(seed: int) -> list[bool]:
        controls.turn(faults=[{"kind": "error_before", "probability": 0.3, "seed": seed}])
        return [failed(mturk) for _ in range(30)]

    first = run(7)
    assert 3 <= sum(first) <= 17
    assert run(7) == first != run(8)


def failed(client: Any) -> bool:
    try:
        client.get_account_balance()
    except ClientError:
        return True
    return False


def test_without_the_switch_faults_strike_nobody(controls: TestControls, mturk: Any, settings: Any) -> None:
    controls.fail("error_before", count=100)
    settings.MARKETPLACE_TEST_CONTROLS = False
    assert mturk.get_account_balance()
