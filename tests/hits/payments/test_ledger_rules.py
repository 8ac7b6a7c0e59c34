"""What the account and its constraints refuse. Every order of events: tests/hits/pipeline/test_any_sequence.py."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction

from hits.models import Account, Bonus, BudgetExceededError, Compensation, LedgerEntry
from hits.payments.rules.ledger import pay_payment, release, settle
from tests.hits import factories as make

pytestmark = pytest.mark.on_postgresql
Kind = LedgerEntry.Kind


@pytest.mark.django_db
def test_an_entry_past_the_budget_names_both_sums_and_changes_nothing():
    account = make.project(budget="1.00").account
    with pytest.raises(BudgetExceededError, match=r"needs \$1\.01 and \$1\.00"):
        account.post([LedgerEntry(kind=Kind.RESERVE, reserved=Decimal("1.01"))])
    assert not LedgerEntry.objects.exists()
    assert Account.objects.get(pk=account.pk).reserved == 0


@pytest.mark.django_db
def test_the_database_itself_refuses_a_sum_past_the_budget():
    account = make.project(budget="1.00").account
    with pytest.raises(IntegrityError), transaction.atomic():
        Account.objects.filter(pk=account.pk).update(paid=Decimal("1.01"))


@pytest.mark.django_db
@pytest.mark.parametrize("amount", [{"reserved": Decimal("-0.01")}, {"paid": Decimal("-0.01")}])
def test_no_sum_ever_falls_below_zero(amount):
    account = make.project(budget="1.00").account
    with pytest.raises(IntegrityError), transaction.atomic():
        account.post([LedgerEntry(kind=Kind.RELEASE, **amount)])
    assert not LedgerEntry.objects.exists()


@pytest.mark.django_db
def test_an_answer_is_settled_once():
    hit = make.hit(unit_cost=Decimal("0.05"), max_assignments=2)
    account = hit.stage.project.account
    account.post([LedgerEntry(kind=Kind.RESERVE, reserved=Decimal("0.10"))])
    answer = make.assignment(hit)
    account.post([settle(answer)])
    with pytest.raises(IntegrityError), transaction.atomic():
        account.post([settle(answer)])
    account.post([release(hit, 1, "expired")])
    account.refresh_from_db()
    assert (account.reserved, account.paid) == (Decimal(0), Decimal("0.05"))


@pytest.mark.django_db
def test_an_entry_of_an_answer_says_what_part_of_it_is_the_fee():
    entry = settle(make.assignment(make.hit(unit_cost=Decimal("0.05"), reward=Decimal("0.04"))))
    assert (entry.reserved, entry.paid, entry.fee) == (Decimal("-0.05"), Decimal("0.05"), Decimal("0.01"))
    given_back = release(entry.hit, 3, "expired")
    assert (given_back.reserved, given_back.paid, given_back.note) == (Decimal("-0.15"), 0, "expired")
    assert (given_back.hit, given_back.stage_id) == (entry.hit, entry.stage_id)


@pytest.mark.django_db
@pytest.mark.parametrize("order", [make.bonus, make.compensation])
def test_a_bonus_and_a_compensation_are_paid_once(order: Callable[[], Bonus | Compensation]):
    """Whatever two processes make of its outcome: the database refuses the second entry."""
    row = order()
    account = row.project.account
    account.post([pay_payment(row), LedgerEntry(kind=Kind.RESERVE, reserved=row.amount + row.fee)])
    with pytest.raises(IntegrityError), transaction.atomic():
        account.post([pay_payment(row)])
    account.refresh_from_db()
    assert account.paid == row.amount + row.fee
