"""What a read of the marketplace finds while a decision of ours is under way."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from hits.answers.verbs import reviewing
from hits.models import Account, Assignment, Hit, Stage
from hits.publishing.rules.hit_plans import clearable
from tests.hits.judging.test_counting import _stage, answer_of, read, reject
from tests.hits.stand_in import StandIn

pytestmark = pytest.mark.django_db
PRICE = Decimal("0.05")


@pytest.fixture
def market(stand_in: StandIn) -> StandIn:
    return stand_in


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


def test_a_hit_that_closes_keeps_the_money_of_a_take_back_that_is_under_way(stage, market, settings) -> None:
    """It was reserved when the lead decided, and is paid when the call arrives."""
    settings.MTURK_SETTLE_SECONDS = 0
    row = answer_of(stage, market)
    reject(row)
    reviewing.take_back(stage, [row.pk], None)
    now = timezone.now()
    market.set_expiration(row.hit.hit_id, now)
    Hit.objects.update(expires_at=now)
    read(stage)
    assert Hit.objects.get().state == Hit.State.CLOSED
    assert money(stage) == (PRICE, 0)
    reviewing.finish(stage)
    assert money(stage) == (0, PRICE)


@pytest.mark.parametrize(("verb", "paid"), [("approve", PRICE), ("reject", Decimal(0))])
def test_a_decision_that_a_read_settles_while_its_call_is_under_way_is_settled_once(
    stage: Stage, market: StandIn, monkeypatch: pytest.MonkeyPatch, verb: str, paid: Decimal
) -> None:
    row = answer_of(stage, market)
    before, _ = money(stage)
    carried_out = getattr(market, verb)

    def then_read(*given: Any, **more: Any) -> None:
        carried_out(*given, **more)
        read(stage)

    monkeypatch.setattr(market, verb, then_read)
    if verb == "approve":
        reviewing.approve(stage, [row.pk], None)
    else:
        reviewing.reject(stage, [row.pk], "Too hasty.", None)
    reviewing.finish(stage)
    assert money(stage) == (before - PRICE, paid)


def test_a_hit_is_not_deleted_while_one_of_its_rejections_is_being_taken_back(stage: Stage, market: StandIn) -> None:
    """The marketplace approves nothing any more of a HIT that is deleted."""
    row = answer_of(stage, market)
    reject(row)
    Hit.objects.update(state=Hit.State.CLOSED)
    assert clearable(stage).exists()
    reviewing.take_back(stage, [row.pk], None)
    assert not clearable(stage).exists()
