from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from hits.models import Account, BudgetExceededError, LedgerEntry
from hits.models.ledger import release, settle
from tests.hits import factories as make

Kind = LedgerEntry.Kind


class LedgerProperties(TestCase):
    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.tuples(st.sampled_from(["reserve", "settle", "release"]), st.integers(1, 6)), max_size=25))
    def test_no_sequence_makes_the_account_drift_from_its_entries_or_leave_its_budget(self, steps):
        account = make.project(budget="1.00").account
        for kind, cents in steps:
            amount = Decimal(cents) / 100
            changes = {
                "reserve": {"reserved": amount},
                "settle": {"reserved": -amount, "paid": amount},
                "release": {"reserved": -amount},
            }[kind]
            try:
                with transaction.atomic():
                    account.post([LedgerEntry(kind=kind, **changes)])
            except BudgetExceededError:
                assert kind == "reserve"
            except IntegrityError:
                assert kind != "reserve"
            account.refresh_from_db()
            assert (account.reserved, account.paid) == account.sums()
            assert account.reserved >= 0
            assert account.reserved + account.paid <= account.budget


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
