"""Which HITs and lists are to be looked at, by the tables and the clock alone."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from hits.answers.rules import hits_to_harvest
from hits.answers.rules.hits_to_harvest import (
    live_stages,
    mark_due,
    mark_overdue,
    mark_unlisted,
    sweeps_due,
    unconcluded_stages,
)
from hits.models import Assignment, Hit, Stage
from hits.publishing.rules.hit_ending import Patience
from tests.hits import factories as make

pytestmark = pytest.mark.django_db
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
State = Assignment.State


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> datetime:
    """The moment at which the module is asked."""
    found = timezone.now()
    monkeypatch.setattr(hits_to_harvest.timezone, "now", lambda: found)
    return found


def due_at(hit: Hit) -> datetime | None:
    return Hit.objects.get(pk=hit.pk).due_at


# Marks


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, 30),
        # What lies in the past is set anew, and so is what is due at this moment.
        (-10, 30),
        (0, 30),
        # What is due sooner stays.
        (10, 10),
        (30, 30),
        (60, 30),
    ],
)
def test_a_mark_brings_a_look_nearer_and_never_puts_it_off(now: datetime, before: int | None, after: int) -> None:
    hit = make.hit(due_at=None if before is None else now + before * SECOND)
    marked = mark_due(Hit.objects.all(), seconds=30)
    assert due_at(hit) == now + after * SECOND
    assert marked == (before not in (10, 30))


def test_a_hit_that_was_deleted_is_not_marked(now: datetime) -> None:
    make.hit(deleted_at=now)
    hit = make.hit()
    assert mark_due(Hit.objects.all()) == 1
    assert due_at(hit) == now


@pytest.mark.parametrize(
    ("columns", "is_overdue"),
    [
        ({"seconds": 0}, True),
        ({"seconds": -1}, True),
        ({"seconds": 1}, False),
        ({"state": State.APPROVED}, False),
        ({"state": State.REJECTED}, False),
    ],
)
def test_an_answer_that_should_be_approved_by_now_is_looked_at(now: datetime, columns: Any, is_overdue: bool) -> None:
    at, state = now + columns.get("seconds", -1) * SECOND, columns.get("state", State.SUBMITTED)
    row = make.assignment(make.hit(), state=state, auto_approval_at=at)
    assert live_stages() == ([row.stage_id] if is_overdue else [])
    assert mark_overdue(row.stage) == is_overdue
    assert mark_overdue(make.stage()) == 0
    assert mark_overdue(row.stage) == 0, "it is marked already"


def test_an_answer_of_a_deleted_hit_is_looked_at_no_more(now: datetime) -> None:
    make.assignment(make.hit(deleted_at=now), state=State.SUBMITTED, auto_approval_at=now)
    assert live_stages() == []


def test_a_hit_that_is_due_makes_its_stage_live(now: datetime) -> None:
    due, later = make.hit(due_at=now), make.hit(due_at=now + SECOND)
    make.hit(due_at=now, hit_id=None)
    assert live_stages() == [due.stage_id]
    again = make.hit(due_at=now)
    assert live_stages() == sorted([due.stage_id, again.stage_id]) and later.stage_id not in live_stages()


# Of what the list does not tell


PATIENCE = Patience(settle=10 * MINUTE, listing=2 * MINUTE)


@pytest.mark.parametrize(
    ("columns", "marked"),
    [
        ({}, 1),
        ({"expired": 22 * MINUTE - SECOND}, 0),
        ({"state": Hit.State.CLOSED}, 0),
        ({"hit_id": None}, 0),
        ({"due_at": make.NOON}, 0),
        ({"short_since": make.NOON}, 0),
    ],
)
def test_a_hit_that_should_be_on_the_list_by_now_is_looked_at_itself(now: datetime, columns: Any, marked: int) -> None:
    """It expired, somebody may have worked on it for its whole time, and reads and the list may lag behind."""
    expired = columns.pop("expired", 22 * MINUTE)
    hit = make.hit(expires_at=now - expired, assignment_seconds=600, **columns)
    assert mark_unlisted(hit.stage, now, PATIENCE) == marked
    assert (due_at(hit) == now) is bool(marked)


def test_the_longest_time_of_a_stage_is_that_of_all_its_hits(now: datetime) -> None:
    stage = make.stage()
    for seconds in (600, 6000):
        make.hit(make.item(stage), expires_at=now - 22 * MINUTE, assignment_seconds=seconds)
    assert mark_unlisted(stage, now, PATIENCE) == 0
    assert mark_unlisted(make.stage(), now, PATIENCE) == 0


def test_the_time_of_a_hit_that_is_still_open_does_not_count(now: datetime) -> None:
    hit = make.hit(expires_at=now - 22 * MINUTE, assignment_seconds=600)
    make.hit(make.item(hit.stage), expires_at=now + MINUTE, assignment_seconds=86_400)
    assert mark_unlisted(hit.stage, now, PATIENCE) == 1


# Lists


def listed(swept_before: timedelta | None, now: datetime, *, closed: int = 0, idle: int = 0, **columns: Any) -> Stage:
    """A stage with one HIT at workers and so many closed ones, whose list was read so long ago."""
    swept_at = None if swept_before is None else now - swept_before
    stage = make.stage(hit_type_id="3TYPE", swept_at=swept_at, idle_sweeps=idle)
    make.hit(make.item(stage), **{"expires_at": now + HOUR, **columns})
    if closed:
        make.hits(make.items(stage, closed), state=Hit.State.CLOSED)
    return stage


@pytest.mark.parametrize(
    ("given", "steps"),
    [
        ({}, 1),
        ({"closed": 99}, 1),
        ({"closed": 100}, 2),
        ({"closed": 250}, 3),
        ({"idle": 1}, 2),
        ({"idle": 3}, 8),
        ({"idle": 4}, 8),
        ({"closed": 100, "idle": 1}, 4),
        # While HITs have expired and are not closed, the list alone tells how they ended.
        ({"closed": 250, "idle": 3, "expires_at": make.NOON}, 1),
    ],
)
def test_a_list_is_read_again_after_a_step_for_each_of_its_pages_and_rarer_where_it_tells_nothing(
    now: datetime, settings: Any, given: Any, steps: int
) -> None:
    settings.HARVEST_SWEEP_SECONDS = 60
    early, in_time = (listed(wait, now, **given) for wait in (steps * MINUTE - SECOND, steps * MINUTE))
    assert sweeps_due() == [in_time.pk] == sweeps_due([early.pk, in_time.pk])
    assert sweeps_due([early.pk]) == []


def test_a_list_is_read_every_six_hours_at_least_and_never_more_often_than_each_step(
    now: datetime, settings: Any
) -> None:
    settings.HARVEST_SWEEP_SECONDS = 3600
    _, in_time = (listed(wait, now, idle=3) for wait in (6 * HOUR - SECOND, 6 * HOUR))
    assert sweeps_due() == [in_time.pk]
    settings.HARVEST_SWEEP_SECONDS = 7 * 3600
    assert sweeps_due() == []


def test_a_list_that_was_never_read_is_read_where_hits_are_at_workers(now: datetime) -> None:
    stage = listed(None, now)
    ended = listed(None, now, state=Hit.State.CLOSED)
    without_type = make.stage(hit_type_id="", earlier_hit_types=[])
    make.hit(make.item(without_type), expires_at=now + HOUR)
    earlier = make.stage(hit_type_id="", earlier_hit_types=["3OLD"])
    make.hit(make.item(earlier), expires_at=now + HOUR)
    assert sweeps_due() == [stage.pk, earlier.pk] == live_stages()
    assert sweeps_due([ended.pk, without_type.pk]) == [ended.pk]


def test_closed_hits_that_were_deleted_are_on_no_list(now: datetime, settings: Any) -> None:
    settings.HARVEST_SWEEP_SECONDS = 60
    stage = listed(MINUTE, now, closed=100)
    assert sweeps_due() == []
    Hit.objects.filter(state=Hit.State.CLOSED).update(deleted_at=now)
    assert sweeps_due() == [stage.pk]


# What is to be concluded


def test_a_stage_with_unscored_answers_or_with_news_of_an_item_is_concluded() -> None:
    scored = make.assignment(scored=True).stage
    unscored = make.assignment(scored=False).stage
    stale = make.item(stale=True).stage
    scored.items.update(stale=False)
    unscored.items.update(stale=False)
    assert unconcluded_stages() == sorted([unscored.pk, stale.pk])
