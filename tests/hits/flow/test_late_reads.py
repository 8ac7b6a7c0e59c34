"""What a read of the marketplace finds while a decision of ours is under way."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hits.flow.people import reviewing
from hits.models import Account, Assignment, Stage
from tests.hits.flow.stand_in import StandIn, stand_in
from tests.hits.flow.test_counting import _stage, answer_of, read, reject

pytestmark = pytest.mark.django_db
PRICE = Decimal("0.05")


@pytest.fixture
def market(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    return stand_in(monkeypatch)


@pytest.fixture
def stage() -> Stage:
    return _stage()


def money(stage: Stage) -> tuple[Decimal, Decimal]:
    account = Account.objects.get(project=stage.project)
    assert (account.reserved, account.paid) == account.sums()
    return account.reserved, account.paid


def test_a_take_back_that_is_under_way_is_reserved_and_paid_once(stage: Stage, market: StandIn) -> None:
    """The call was carried out, its reply was lost, and a read is faster than its repetition."""
    row = answer_of(stage, market)
    reject(row)
    before, _ = money(stage)
    reviewing.take_back(stage, [row.pk], None)
    assert money(stage) == (before + PRICE, 0)
    market.turn(row.assignment_id, "Approved")
    read(stage)
    assert money(stage) == (before + PRICE, 0)
    reviewing.finish(stage)
    row.refresh_from_db()
    assert (money(stage), row.state, row.decision) == ((before, PRICE), "Approved", "")
    read(stage)
    assert money(stage) == (before, PRICE)


@pytest.mark.parametrize(("decided", "paid"), [("Approved", PRICE), ("Rejected", Decimal(0))])
def test_a_read_that_finds_our_own_decision_does_not_call_it_somebody_elses(stage, market, decided, paid) -> None:
    row = answer_of(stage, market)
    before, _ = money(stage)
    if decided == "Approved":
        reviewing.approve(stage, [row.pk], None)
    else:
        reviewing.reject(stage, [row.pk], "Too hasty.", None)
    market.turn(row.assignment_id, decided)
    read(stage)
    row.refresh_from_db()
    assert (row.state, row.decision, row.adopted) == (decided, "", "")
    assert row.feedback == ("" if decided == "Approved" else "Too hasty.")
    reviewing.finish(stage)
    assert money(stage) == (before - PRICE, paid)


def test_what_the_marketplace_turned_against_our_decision_still_says_so(stage: Stage, market: StandIn) -> None:
    row = answer_of(stage, market)
    reviewing.reject(stage, [row.pk], "Too hasty.", None)
    market.turn(row.assignment_id, "Approved")
    read(stage)
    row = Assignment.objects.get()
    assert (row.state, row.adopted) == ("Approved", "Approved at the marketplace, not from here.")
