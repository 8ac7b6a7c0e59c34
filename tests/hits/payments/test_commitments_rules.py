"""What the marketplace account will still be asked for: every plan that holds money there only later."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hits.models import Assignment, Batch, Bonus, Compensation, Extension, Hit
from hits.payments.rules.commitments import BalanceTooLowError, planned_cost, short_of_money
from tests.hits import factories as make

pytestmark = pytest.mark.django_db
UNIT = Decimal("0.05")


def _hit(state: str, batch: str = Batch.State.WAITING) -> Hit:
    item = make.item()
    return make.hit(item, state=state, batch=make.batch(item.stage, state=batch), max_assignments=3, unit_cost=UNIT)


def _extension(state: str) -> None:
    hit = _hit(Hit.State.CLOSED)
    Extension.objects.create(hit=hit, batch=hit.batch, number=1, assignments=2, places=3, token="t+1", state=state)


def _answer(state: str, decision: str) -> None:
    make.assignment(make.hit(unit_cost=UNIT), state=state, decision=decision)


@pytest.mark.parametrize(
    ("planned", "cost"),
    [
        (lambda: _hit(Hit.State.PLANNED), "0.15"),
        (lambda: _hit(Hit.State.SENT), "0.15"),
        (lambda: _hit(Hit.State.LIVE), "0"),
        # Of three places one is held there since before.
        (lambda: _extension(Extension.State.PLANNED), "0.10"),
        (lambda: _extension(Extension.State.DONE), "0"),
        # A rejection let go of the money; taking it back needs it again.
        (lambda: _answer(Assignment.State.REJECTED, Assignment.State.APPROVED), "0.05"),
        (lambda: _answer(Assignment.State.SUBMITTED, Assignment.State.APPROVED), "0"),
        (lambda: _answer(Assignment.State.REJECTED, Assignment.State.REJECTED), "0"),
        (lambda: make.bonus(state=Bonus.State.PLANNED), "0.60"),
        (lambda: make.bonus(state=Bonus.State.SENT), "0.60"),
        (lambda: make.bonus(state=Bonus.State.PAID), "0"),
        (lambda: make.compensation(state=Compensation.State.PLANNED), "1.50"),
        (lambda: make.compensation(state=Compensation.State.OFFERED), "0"),
    ],
)
def test_what_is_written_down_and_not_carried_out_is_spoken_for(planned, cost) -> None:
    planned()
    assert planned_cost() == Decimal(cost)


def test_a_balance_that_is_too_low_says_what_is_missing_and_what_is_planned() -> None:
    error = BalanceTooLowError(Decimal("1200.00"), Decimal("1000.50"), Decimal("34.50"))
    assert error.details() == {"needed": "1200.00", "missing": "234.00"}
    assert str(error) == (
        "This needs $1,200.00; the marketplace account holds $1,000.50, of which $34.50 is planned for calls on their "
        "way. $234.00 is missing: add money at the marketplace, or ask for less."
    )
    assert "planned" not in str(BalanceTooLowError(Decimal("2.00"), Decimal("1.00"), Decimal(0)))


def test_a_plan_of_a_batch_that_is_published_is_carried_out() -> None:
    _hit(Hit.State.SENT, Batch.State.PUBLISHED)
    assert planned_cost() == 0


def test_the_plans_of_all_projects_and_kinds_add_up() -> None:
    _hit(Hit.State.PLANNED)
    make.bonus(state=Bonus.State.SENT)
    _answer(Assignment.State.REJECTED, Assignment.State.APPROVED)
    assert planned_cost() == Decimal("0.80")


@pytest.mark.parametrize(
    ("items", "price", "said"),
    [
        (1, "10.00", ""),
        (1, "10.01", "1 item waits for money: $10.01 is needed and $10.00 of the budget is left."),
        (12, "1200.00", "12 items wait for money: $1,200.00 is needed"),
        (199, "20.00", "199 items wait"),
        (200, "20.00", "At least 200 items wait"),
    ],
)
def test_items_that_the_budget_does_not_pay_for_wait_for_money(items: int, price: str, said: str) -> None:
    stage = make.stage(make.project(budget="10.00"))
    found = short_of_money(stage, items, Decimal(price), limit=200)
    assert found.startswith(said) if said else found == ""
