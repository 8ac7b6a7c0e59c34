"""Which answers are approved without a lead, and when."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from hits.answers.rules.automatic_approval import LAST_RESORT, decide, due, for_leads_alone, marketplace_delay
from hits.models import Assignment, Stage
from tests.hits import factories as make

pytestmark = pytest.mark.django_db
State = Assignment.State
THREE_DAYS = 259_200


def checked(**columns: Any) -> Stage:
    """A stage that approves what passed at once, and two other answers of a worker after three days."""
    return make.stage(**{"auto_approval_seconds": THREE_DAYS, "unchecked_answers": 2, **columns})


def waiting(stage: Stage, worker: Any = None, **columns: Any) -> Assignment:
    """An answer that nobody has decided about and that did not pass."""
    given = {"state": State.SUBMITTED, "decision": "", "scored": True, "problem": "Nothing was answered.", **columns}
    return make.assignment(make.hit(make.item(stage)), worker or make.worker(), **given)


def decided(*rows: Assignment) -> list[tuple[str, timedelta | None]]:
    """(decision, how long after its submission it is approved)"""
    decide(row.pk for row in rows)
    for row in rows:
        row.refresh_from_db()
    return [(row.decision, row.approve_at and row.approve_at - row.submitted_at) for row in rows]


IN_TIME = ("", timedelta(days=3))
AT_ONCE = (State.APPROVED, None)
LEFT = ("", None)


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ({"problem": ""}, AT_ONCE),
        ({"problem": "", "held": "It came too late.", "admitted": True}, AT_ONCE),
        ({"problem": "", "held": "It came too late."}, IN_TIME),
        ({"problem": "", "held": "It came too late.", "admitted": False}, IN_TIME),
        ({}, IN_TIME),
        ({"admitted": True}, IN_TIME),
        ({"scored": False}, LEFT),
        ({"scored": False, "problem": ""}, LEFT),
        ({"decision": State.REJECTED}, (State.REJECTED, None)),
        ({"state": State.APPROVED}, LEFT),
        ({"state": State.REJECTED, "problem": ""}, LEFT),
    ],
)
def test_what_passed_is_approved_at_once_and_what_did_not_in_three_days(columns: Any, what: Any) -> None:
    assert decided(waiting(checked(), **columns)) == [what]


@pytest.mark.parametrize("columns", [{"approval": Stage.Approval.REVIEW}, {"auto_approval_seconds": 0}])
def test_a_stage_whose_answers_leads_or_the_marketplace_approve_decides_nothing(columns: Any) -> None:
    stage = checked(**columns)
    assert decided(waiting(stage), waiting(stage, problem="")) == [LEFT, LEFT]


def test_a_second_is_the_shortest_time_of_leads() -> None:
    assert decided(waiting(checked(auto_approval_seconds=1))) == [("", timedelta(seconds=1))]


def test_only_the_answers_that_are_named_are_decided() -> None:
    stage = checked()
    named, other = waiting(stage), waiting(stage, problem="")
    assert decided(named) == [IN_TIME]
    other.refresh_from_db()
    assert (other.decision, other.approve_at) == ("", None)


def test_two_answers_of_a_worker_are_approved_by_time_and_the_third_waits_for_a_lead() -> None:
    stage, worker = checked(), make.worker()
    late, early, between = (
        waiting(stage, worker, submitted_at=make.NOON + timedelta(hours=hour)) for hour in (3, 1, 2)
    )
    assert decided(late, early, between, waiting(stage)) == [LEFT, IN_TIME, IN_TIME, IN_TIME]
    # What was granted before stays granted, and what is due counts against the limit.
    assert decided(late, early, between) == [LEFT, IN_TIME, IN_TIME]
    assert for_leads_alone([stage]) == {stage.pk: 1}


def test_the_limit_counts_each_worker_and_each_stage_by_itself() -> None:
    worker, stages = make.worker(), [checked(unchecked_answers=1), checked(unchecked_answers=1)]
    rows = [waiting(stage, worker) for stage in stages] + [waiting(stages[0])]
    assert decided(*rows) == [IN_TIME] * 3


def test_an_answer_that_passed_later_waits_no_more() -> None:
    row = waiting(checked())
    decided(row)
    Assignment.objects.update(problem="")
    assert decided(row) == [AT_ONCE]


@pytest.mark.parametrize(
    ("seconds", "columns", "is_due"),
    [
        (-1, {}, True),
        (3600, {}, False),
        (None, {}, False),
        (-1, {"decision": State.REJECTED}, False),
        (-1, {"state": State.APPROVED}, False),
    ],
)
def test_the_time_of_a_lead_is_over_when_it_has_passed_and_nobody_has_decided(
    seconds: int | None, columns: Any, is_due: bool
) -> None:
    approve_at = None if seconds is None else timezone.now() + timedelta(seconds=seconds)
    row = waiting(checked(), approve_at=approve_at, **columns)
    assert list(due()) == ([row] if is_due else [])


def test_the_marketplace_is_the_last_resort_of_what_is_checked_here() -> None:
    assert LAST_RESORT == 30 * 24 * 3600
    assert marketplace_delay(checked()) == LAST_RESORT
    assert marketplace_delay(checked(approval=Stage.Approval.REVIEW)) == THREE_DAYS
    assert marketplace_delay(checked(auto_approval_seconds=0)) == 0


def test_what_waits_for_leads_alone_is_counted_by_stage() -> None:
    one, other = checked(), checked()
    for stage in (one, one, other):
        waiting(stage)
    waiting(one, approve_at=make.NOON)
    waiting(one, decision=State.REJECTED)
    assert for_leads_alone([one, other]) == {one.pk: 2, other.pk: 1}
    assert for_leads_alone([other]) == {other.pk: 1}
