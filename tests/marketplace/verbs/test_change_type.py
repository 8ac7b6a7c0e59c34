"""A HIT that moves to another type: its open places cost the new price, what was promised stays promised."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from marketplace.models import Hit, HitType, Requester, Worker
from marketplace.rules.errors import InsufficientFunds
from marketplace.verbs import accounts, assignments, hits, privacy
from tests.marketplace.refusals import refused


@pytest.fixture
def dear(make_hit_type: Any) -> HitType:
    """One dollar and 20 cents of fee; the ordinary type costs 50 and 10 cents."""
    return make_hit_type(reward=Decimal("1.00"))


def held(requester: Requester) -> Decimal:
    requester.refresh_from_db()
    return requester.held


def test_open_places_take_the_new_price(requester: Requester, make_hit: Any, hit_type: HitType, dear: HitType) -> None:
    hit = make_hit(hit_type, max_assignments=2)
    hits.change_type(requester, hit.hit_id, dear.hit_type_id, hit.created_at)
    assert held(requester) == Decimal("2.40")
    hits.change_type(requester, hit.hit_id, hit_type.hit_type_id, hit.created_at)
    assert held(requester) == Decimal("1.20")
    assert Hit.objects.get().fee == Decimal("0.10")


@pytest.mark.parametrize(("first", "second"), [("0.50", "1.00"), ("1.00", "0.50")])
def test_who_accepted_is_paid_what_was_promised(
    requester: Requester, make_hit_type: Any, make_hit: Any, worker: Worker, now: datetime, first: str, second: str
) -> None:
    old, new = (make_hit_type(reward=Decimal(reward)) for reward in (first, second))
    hit = make_hit(old)
    taken = assignments.accept(old, worker, now)
    hits.change_type(requester, hit.hit_id, new.hit_type_id, now)
    assert held(requester) == Decimal("1.20")
    assignments.submit(taken.assignment_id, {"a": ["1"]}, now)
    assignments.approve(requester, taken.assignment_id, now)
    worker.refresh_from_db()
    assert worker.earned == Decimal(first)
    assert [row["reward"] for row in privacy.export(worker)["assignments"]] == [first]
    assert held(requester) == 0
    assert requester.charged == Decimal(first) * Decimal("1.2")


@pytest.mark.parametrize(("first", "second"), [("0.50", "1.00"), ("1.00", "0.50")])
def test_a_place_that_comes_back_costs_the_new_price(
    requester: Requester, make_hit_type: Any, make_hit: Any, worker: Worker, now: datetime, first: str, second: str
) -> None:
    old, new = (make_hit_type(reward=Decimal(reward)) for reward in (first, second))
    hit = make_hit(old)
    taken = assignments.accept(old, worker, now)
    hits.change_type(requester, hit.hit_id, new.hit_type_id, now)
    assignments.sweep(taken.deadline + timedelta(seconds=1))
    assert held(requester) == Decimal(second) * Decimal("1.2")
    again = assignments.accept(new, worker, now)
    assert again.hit_id == hit.pk and again.reward == Decimal(second)


def test_the_hit_moves_to_the_other_group(
    requester: Requester, hit: Hit, hit_type: HitType, dear: HitType, worker: Worker, mturk: Any, now: datetime
) -> None:
    mturk.update_hit_type_of_hit(HITId=hit.hit_id, HITTypeId=dear.hit_type_id)
    shown = mturk.get_hit(HITId=hit.hit_id)["HIT"]
    assert (shown["HITTypeId"], shown["HITGroupId"], shown["Reward"]) == (
        dear.hit_type_id,
        dear.hit_group_id,
        "1.00",
    )
    assert mturk.get_account_balance()["OnHoldBalance"] == "1.20"
    assert assignments.accept(dear, worker, now).hit_id == hit.pk


def test_a_dearer_type_that_cannot_be_held_changes_nothing(
    requester: Requester, hit: Hit, make_hit_type: Any, now: datetime
) -> None:
    ruinous = make_hit_type(reward=Decimal("9000.00"))
    with pytest.raises(InsufficientFunds):
        hits.change_type(requester, hit.hit_id, ruinous.hit_type_id, now)
    assert Hit.objects.get().hit_type_id == hit.hit_type_id
    assert held(requester) == Decimal("0.60")


def test_the_same_type_is_no_change(requester: Requester, hit: Hit, hit_type: HitType, now: datetime) -> None:
    assert hits.change_type(requester, hit.hit_id, hit_type.hit_type_id, now).pk == hit.pk
    assert held(requester) == Decimal("0.60")


def test_a_deleted_hit_and_somebody_elses_hit_or_type_stay(
    requester: Requester, hit: Hit, dear: HitType, make_hit_type: Any, now: datetime
) -> None:
    bob = accounts.create_requester("Bob", Decimal(5), now).requester
    his = make_hit_type(requester=bob)
    with refused("HITTypeDoesNotExist"):
        hits.change_type(requester, hit.hit_id, his.hit_type_id, now)
    with refused("HITDoesNotExist"):
        hits.change_type(bob, hit.hit_id, his.hit_type_id, now)
    late = hit.expires_at
    hits.dispose(requester, hit.hit_id, late)
    with refused("InvalidHITState"):
        hits.change_type(requester, hit.hit_id, dear.hit_type_id, late)
