"""Operators at once, each on a database connection of its own."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from django.db.models import Sum

from marketplace.models import Hit, Payout, PayoutLine, Worker
from marketplace.rules.errors import AlreadyDone, RequestError
from marketplace.verbs import accounts, assignments, payouts
from tests.marketplace.verbs.test_concurrency import CROWD, at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]
EARNED = Decimal("3.00")


@pytest.fixture
def crowd(make_worker: Callable[..., Worker]) -> list[Worker]:
    return [make_worker(f"w{number}", earned=EARNED) for number in range(5)]


def draft(now: datetime, token: str = "") -> Any:
    return lambda: payouts.draft(operator(), payouts.owing(), "everybody", now, token=token)


def operator() -> Any:
    from django.contrib.auth.models import User

    return User.objects.filter(is_staff=True).first() or accounts.create_operator("olive", "a-long-password")


def owed() -> Decimal:
    sums = Worker.objects.aggregate(earned=Sum("earned"), paid=Sum("paid"))
    return Decimal(sums["earned"] - sums["paid"])


def test_a_run_that_many_mark_at_once_is_paid_once(crowd: list[Worker], now: datetime) -> None:
    run = draft(now)()
    results = at_once([lambda: payouts.pay(operator(), run.pk, now) for _ in range(CROWD)])
    assert sorted(type(result).__name__ for result in results) == ["AlreadyDone"] * (CROWD - 1) + ["Payout"]
    assert owed() == 0


def test_of_runs_over_the_same_money_one_is_paid(crowd: list[Worker], now: datetime) -> None:
    runs = [draft(now)() for _ in range(4)]
    results = at_once([lambda run=run: payouts.pay(operator(), run.pk, now) for run in runs])
    assert sum(isinstance(result, Payout) for result in results) == 1
    assert sum(isinstance(result, RequestError) for result in results) == 3
    assert owed() == 0


def test_one_form_sent_at_once_makes_one_draft(crowd: list[Worker], now: datetime) -> None:
    operator()
    results = at_once([draft(now, "same") for _ in range(CROWD)])
    assert sum(isinstance(result, AlreadyDone) for result in results) == CROWD - 1
    assert (Payout.objects.count(), PayoutLine.objects.count()) == (1, 5)


def test_a_run_is_taken_back_once_and_approvals_go_on(
    crowd: list[Worker], hit: Hit, hit_type: Any, requester: Any, now: datetime
) -> None:
    held = assignments.accept(hit_type, crowd[0], now)
    assignments.submit(held.assignment_id, {"answer": ["x"]}, now)
    run = payouts.pay(operator(), draft(now)().pk, now)
    undo = [lambda: payouts.undo(operator(), run.pk, "wrong month", now) for _ in range(CROWD - 1)]
    results = at_once([*undo, lambda: assignments.approve(requester, held.assignment_id, now)])
    assert sum(isinstance(result, Payout) for result in results) == 1
    assert sum(isinstance(result, AlreadyDone) for result in results) == CROWD - 2
    assert owed() == 5 * EARNED + hit_type.reward
