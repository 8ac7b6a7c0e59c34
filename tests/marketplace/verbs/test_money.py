"""Movements of a requester's money: what each of them does to the sums, and which entry it leaves."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from marketplace.models import Assignment, Hit, HitType, MoneyEntry, Requester, Worker
from marketplace.rules.errors import InsufficientFunds
from marketplace.verbs import accounts, assignments, money

pytestmark = pytest.mark.on_postgresql


@pytest.fixture
def bob(db: None, now: datetime) -> Requester:
    """With $10.00, of which nothing is held or spent."""
    return accounts.create_requester("Bob", Decimal("10.00"), now, "bob", "secret-of-bob").requester


@pytest.fixture
def answer(hit_type: HitType, hit: Hit, worker: Worker, now: datetime) -> Assignment:
    return assignments.accept(hit_type, worker, now, hit)


def sums(requester: Requester) -> tuple[Decimal, ...]:
    """(funds, held, charged, available)"""
    requester.refresh_from_db()
    return requester.funds, requester.held, requester.charged, requester.available


def dollars(*amounts: str) -> tuple[Decimal, ...]:
    return tuple(map(Decimal, amounts))


def test_held_money_is_charged_or_given_back(bob: Requester, answer: Assignment, now: datetime) -> None:
    money.hold(bob.pk, Decimal("4.00"), now, answer.hit)
    assert sums(bob) == dollars("10.00", "4.00", "0.00", "6.00")
    money.charge(bob.pk, Decimal("1.50"), now, answer)
    assert sums(bob) == dollars("10.00", "2.50", "1.50", "6.00")
    money.release(bob.pk, Decimal("2.50"), now, answer.hit)
    assert sums(bob) == dollars("10.00", "0.00", "1.50", "8.50")
    money.deposit(bob, Decimal("5.00"), now)
    assert sums(bob) == dollars("15.00", "0.00", "1.50", "13.50")
    money.spend(bob.pk, Decimal("3.00"), now, answer)
    assert sums(bob) == dollars("15.00", "0.00", "4.50", "10.50")


def test_each_movement_leaves_its_entry(bob: Requester, answer: Assignment, now: datetime) -> None:
    earlier = set(MoneyEntry.objects.values_list("pk", flat=True))
    hit = answer.hit
    money.deposit(bob, Decimal("1.00"), now)
    money.hold(bob.pk, Decimal("2.00"), now, hit, answer)
    money.charge(bob.pk, Decimal("0.50"), now, answer)
    money.release(bob.pk, Decimal("0.75"), now, hit, answer)
    money.spend(bob.pk, Decimal("0.25"), now, answer)
    rows = MoneyEntry.objects.exclude(pk__in=earlier).order_by("pk")
    assert {(row.requester_id, row.created_at) for row in rows} == {(bob.pk, now)}
    assert [(row.kind, str(row.amount), row.hit, row.assignment) for row in rows] == [
        ("deposit", "1.00", None, None),
        ("hold", "2.00", hit, answer),
        ("charge", "0.50", hit, answer),
        ("release", "0.75", hit, answer),
        ("bonus", "0.25", hit, answer),
    ]


@pytest.mark.parametrize("take", ["hold", "spend"])
def test_all_that_is_available_may_be_taken_and_not_a_cent_more(
    bob: Requester, answer: Assignment, now: datetime, take: str
) -> None:
    about: Any = {"hold": answer.hit, "spend": answer}[take]
    money.hold(bob.pk, Decimal("3.00"), now, answer.hit)
    money.spend(bob.pk, Decimal("2.00"), now, answer)
    with pytest.raises(InsufficientFunds, match=r"needs \$5\.01.*\$5\.00"):
        getattr(money, take)(bob.pk, Decimal("5.01"), now, about)
    assert sums(bob) == dollars("10.00", "3.00", "2.00", "5.00")
    getattr(money, take)(bob.pk, Decimal("5.00"), now, about)
    assert sums(bob)[3] == 0


def test_the_money_of_others_stays_as_it_was(
    bob: Requester, requester: Requester, answer: Assignment, now: Any
) -> None:
    before = sums(requester)
    money.hold(bob.pk, Decimal("2.00"), now, answer.hit)
    money.charge(bob.pk, Decimal("1.00"), now, answer)
    money.release(bob.pk, Decimal("1.00"), now, answer.hit)
    money.deposit(bob, Decimal("1.00"), now)
    money.spend(bob.pk, Decimal("1.00"), now, answer)
    assert sums(requester) == before
