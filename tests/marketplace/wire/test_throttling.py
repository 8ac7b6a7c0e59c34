from typing import Any

import pytest
from botocore.exceptions import ClientError
from django.db import connection

from marketplace.models import Bucket, Requester
from marketplace.rules.errors import WireError
from marketplace.rules.throttling import Rate
from marketplace.verbs import clock
from marketplace.wire import throttling
from tests.marketplace.controls import TestControls
from tests.marketplace.verbs.test_concurrency import at_once


@pytest.fixture
def stand_still(monkeypatch: pytest.MonkeyPatch, now: Any) -> None:
    monkeypatch.setattr(clock, "wall", lambda: now)


def admitted(requester: Requester, times: int) -> int:
    count = 0
    for _ in range(times):
        try:
            throttling.admit(requester)
            count += 1
        except WireError:
            continue
    return count


def test_each_requester_has_a_bucket_of_its_own(requester: Requester, settings: Any, stand_still: None) -> None:
    settings.MARKETPLACE_THROTTLE = Rate(3, 1.0)
    assert admitted(requester, 10) == 3
    assert admitted(Requester.objects.create(name="Bob"), 2) == 2


@pytest.mark.django_db(transaction=True)
def test_calls_at_once_share_one_bucket(requester: Requester, settings: Any, stand_still: None) -> None:
    settings.MARKETPLACE_THROTTLE = Rate(5, 1.0)
    results = at_once([lambda: throttling.admit(requester) for _ in range(12)])
    assert sum(result is None for result in results) == 5


def test_a_call_that_is_let_through_costs_one_query(
    requester: Requester, settings: Any, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(0):
        throttling.admit(requester)
    settings.MARKETPLACE_THROTTLE = Rate(100, 1.0)
    throttling.admit(requester)
    with django_assert_num_queries(1):
        throttling.admit(requester)
    assert Bucket.objects.count() == 1
    assert connection.vendor in ("sqlite", "postgresql")


def test_a_client_is_told_and_gets_through_a_little_later(connect: Any, mturk: Any, settings: Any) -> None:
    settings.MARKETPLACE_THROTTLE = Rate(2, 2.0)
    with pytest.raises(ClientError, match="Rate exceeded") as caught:
        # On a busy machine a call takes longer than a token.
        for _ in range(30):
            mturk.get_account_balance()
    assert caught.value.response["Error"]["Code"] == "ThrottlingException"
    patient = connect(retries={"mode": "standard", "max_attempts": 5})
    for _ in range(4):
        patient.get_account_balance()


def test_the_controls_take_the_place_of_the_setting(
    live_server: Any, mturk: Any, settings: Any, stand_still: None
) -> None:
    settings.MARKETPLACE_TEST_CONTROLS = True
    controls = TestControls(live_server.url)
    controls.turn(throttle="1,1/s")
    mturk.get_account_balance()
    with pytest.raises(ClientError, match="Rate exceeded"):
        mturk.get_account_balance()
    controls.turn(throttle="")
    mturk.get_account_balance()
    mturk.get_account_balance()
