from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from marketplace.models import Assignment, BonusPayment, HitType, Message, MoneyEntry, Requester, Worker
from marketplace.rules.errors import (
    DoesNotExist,
    InsufficientFunds,
    ParameterValidationError,
)
from marketplace.verbs import accounts, assignments, bonuses, hits
from tests.marketplace.refusals import refused
from tests.marketplace.verbs.test_concurrency import at_once

pytestmark = pytest.mark.on_postgresql

CENT = Decimal("0.01")


@pytest.fixture
def done(hit_type: HitType, hit: Any, worker: Worker, now: datetime) -> Assignment:
    """An answer of Walter's that waits for review."""
    held = assignments.accept(hit_type, worker, now)
    return assignments.submit(held.assignment_id, {"a": ["1"]}, now)


@pytest.fixture
def pay(requester: Requester, worker: Worker, done: Assignment, now: datetime) -> Callable[..., BonusPayment]:
    def make(amount: str = "1.00", **values: Any) -> BonusPayment:
        defaults = {"worker_id": worker.worker_id, "assignment_id": done.assignment_id, "reason": "Well found"}
        return bonuses.pay(requester, amount=Decimal(amount), now=now, **(defaults | values))

    return make


def available(requester: Requester) -> Decimal:
    requester.refresh_from_db()
    return requester.available


@pytest.mark.parametrize(("amount", "fee"), [("1.00", "0.20"), ("0.01", "0.01"), ("0.13", "0.03"), ("0.12", "0.02")])
def test_a_bonus_and_its_fee_are_charged_at_once(
    pay: Any, requester: Requester, worker: Worker, amount: str, fee: str
) -> None:
    before = available(requester)
    paid = pay(amount)
    assert paid.fee == Decimal(fee)
    assert before - available(requester) == Decimal(amount) + Decimal(fee)
    assert MoneyEntry.objects.get(kind="bonus").amount == Decimal(amount) + Decimal(fee)
    worker.refresh_from_db()
    assert worker.earned == Decimal(amount)


def test_the_worker_reads_how_much_and_why(pay: Any, worker: Worker) -> None:
    pay("1234.50", reason="Two lines\nof praise")
    message = Message.objects.get(worker=worker)
    assert (message.subject, message.text) == ("A bonus of $1,234.50 from Alice", "Two lines\nof praise")
    worker.refresh_from_db()
    assert worker.unread_messages == 1


def test_a_used_token_pays_nothing_whatever_else_is_given(pay: Any, requester: Requester, now: datetime) -> None:
    pay("1.00", token="b-1")
    before = available(requester)
    with refused("RequestAlreadyProcessed", match='The idempotency token "b-1" has already been processed.'):
        pay("2.00", token="b-1", worker_id="A0")
    assert available(requester) == before
    pay("1.00", token="b-2")
    assert BonusPayment.objects.count() == 2


def test_a_token_of_a_hit_is_another_token(pay: Any, make_hit: Any, hit_type: HitType) -> None:
    make_hit(hit_type, token="same")
    assert pay(token="same").amount > 0


def test_a_token_ends_after_a_day(pay: Any, requester: Requester, worker: Worker, done: Any, now: datetime) -> None:
    pay(token="b-1")
    later = now + timedelta(hours=24)
    bonuses.pay(requester, worker.worker_id, done.assignment_id, CENT, "again", later, "b-1")
    assert BonusPayment.objects.count() == 2


def test_more_than_the_account_holds_is_refused_and_leaves_nothing(pay: Any, requester: Requester) -> None:
    before = available(requester)
    with pytest.raises(InsufficientFunds, match=r"needs \$12000.00"):
        pay("10000.00", token="b-1")
    assert available(requester) == before
    assert not Message.objects.exists() and not BonusPayment.objects.exists()
    pay("1.00", token="b-1")


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"reason": " "}, ParameterValidationError),
        ({"reason": "r" * 4097}, ParameterValidationError),
        ({"assignment_id": "3NONE"}, DoesNotExist),
        ({"worker_id": "ANOBODY"}, ParameterValidationError),
    ],
)
def test_a_bonus_that_makes_no_sense_is_refused(pay: Any, change: dict[str, str], error: type[Exception]) -> None:
    with pytest.raises(error):
        pay(**change)
    assert not BonusPayment.objects.exists()


def test_a_bonus_goes_to_the_worker_of_the_assignment(pay: Any, make_worker: Any) -> None:
    with pytest.raises(ParameterValidationError, match="not submitted by worker"):
        pay(worker_id=make_worker("other").worker_id)


def test_only_work_that_was_handed_in_earns_one(
    requester: Requester, worker: Worker, hit_type: HitType, hit: Any, now: datetime
) -> None:
    held = assignments.accept(hit_type, worker, now)
    with refused("InvalidAssignmentState", match="Reviewable,Approved,Rejected"):
        bonuses.pay(requester, worker.worker_id, held.assignment_id, CENT, "r", now)


def test_rejected_and_deleted_work_may_still_earn_one(
    pay: Any, requester: Requester, done: Assignment, now: datetime
) -> None:
    assignments.reject(requester, done.assignment_id, now, "no")
    hits.dispose(requester, done.hit.hit_id, now)
    assert pay().amount == 1


def test_another_requesters_assignment_does_not_exist(worker: Worker, done: Assignment, now: datetime) -> None:
    bob = accounts.create_requester("Bob", Decimal(5), now).requester
    with refused("AssignmentDoesNotExist"):
        bonuses.pay(bob, worker.worker_id, done.assignment_id, CENT, "r", now)


def test_who_has_not_worked_for_half_a_year_gets_none(
    requester: Requester, worker: Worker, done: Assignment, make_hit: Any, hit_type: HitType, now: datetime
) -> None:
    late = now + timedelta(days=185)
    with refused("InvalidParameterValue", match="last six months"):
        bonuses.pay(requester, worker.worker_id, done.assignment_id, CENT, "r", late)
    newer = make_hit(hit_type, now=late)
    held = assignments.accept(hit_type, worker, late, newer)
    assignments.submit(held.assignment_id, {"a": ["1"]}, late)
    assert bonuses.pay(requester, worker.worker_id, done.assignment_id, CENT, "r", late).amount == CENT


@pytest.mark.django_db(transaction=True)
def test_one_token_pays_once_however_many_ask_at_once(pay: Any, requester: Requester, worker: Worker) -> None:
    results = at_once([lambda: pay(token="same") for _ in range(8)])
    assert sum(isinstance(result, BonusPayment) for result in results) == 1
    assert sum(getattr(result, "turk_code", "") == "RequestAlreadyProcessed" for result in results) == 7
    worker.refresh_from_db()
    assert worker.earned == 1 and Message.objects.count() == 1


@pytest.mark.parametrize(("seconds", "paid"), [(0, True), (1, False)])
def test_work_of_184_days_ago_earns_one_to_the_second(
    requester: Requester, worker: Worker, done: Assignment, now: datetime, seconds: int, paid: bool
) -> None:
    late = now + timedelta(days=184, seconds=seconds)
    if paid:
        assert bonuses.pay(requester, worker.worker_id, done.assignment_id, CENT, "r", late).amount == CENT
        return
    with refused("InvalidParameterValue"):
        bonuses.pay(requester, worker.worker_id, done.assignment_id, CENT, "r", late)


def test_newer_work_for_another_requester_does_not_count(
    requester: Requester, worker: Worker, done: Assignment, make_hit: Any, make_hit_type: Any, now: datetime
) -> None:
    late = now + timedelta(days=185)
    bob = accounts.create_requester("Bob", Decimal(500), late).requester
    held = assignments.accept(
        make_hit_type(requester=bob), worker, late, make_hit(make_hit_type(requester=bob), now=late)
    )
    assignments.submit(held.assignment_id, {"a": ["1"]}, late)
    with refused("InvalidParameterValue"):
        bonuses.pay(requester, worker.worker_id, done.assignment_id, CENT, "r", late)


def test_newer_work_by_another_worker_does_not_count(
    requester: Requester, worker: Worker, done: Assignment, make_hit: Any, hit_type: HitType, make_worker: Any, now: Any
) -> None:
    late = now + timedelta(days=185)
    held = assignments.accept(hit_type, make_worker("wilma"), late, make_hit(hit_type, now=late))
    assignments.submit(held.assignment_id, {"a": ["1"]}, late)
    with refused("InvalidParameterValue"):
        bonuses.pay(requester, worker.worker_id, done.assignment_id, CENT, "r", late)


def test_the_longest_reason_is_delivered_and_the_payment_keeps_it(
    pay: Any, requester: Requester, worker: Worker, done: Assignment, now: datetime
) -> None:
    paid = pay("0.50", reason="r" * 4096)
    assert (paid.requester, paid.worker, paid.assignment, paid.created_at) == (requester, worker, done, now)
    assert Message.objects.get(worker=worker).text == paid.reason == "r" * 4096
    entry = MoneyEntry.objects.get(kind="bonus")
    assert (entry.hit, entry.assignment, entry.created_at) == (done.hit, done, now)


def test_nobody_else_earns_a_bonus(pay: Any, make_worker: Any) -> None:
    other = make_worker("wilma")
    pay("0.50")
    other.refresh_from_db()
    assert other.earned == 0 and other.unread_messages == 0
