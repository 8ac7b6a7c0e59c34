"""What the marketplace account will still be asked for: every plan that holds money there only later."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hits.domain.commitments import planned_cost
from hits.models import Assignment, Batch, Bonus, Compensation, Extension, Hit
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
