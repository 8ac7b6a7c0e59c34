"""Blocks, pauses, messages, undoing, late answers and an absent marketplace, in any order.

What holds after each step: a worker has one standing row at most; labels count unless a block is in force or their
answer is held; what was paid stays paid. And once the marketplace answers again, the worker holds the qualification
there exactly while a block or pause keeps the worker out, and each message has come once.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hits.answers.rules import eligibility
from hits.judging.rules.counting import recount
from hits.judging.rules.summaries import refresh_worker_stats
from hits.models import Assignment, Block, Label, Stage, Worker
from hits.mturk.errors import UnreachableError
from hits.people.verbs import messaging
from hits.workers.verbs import blocking
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.stand_in import StandIn

# The rules are the same on any database; how it keeps them is seen in a few. HYPOTHESIS_PROFILE=thorough tries more.
EXAMPLES = settings().max_examples // (10 if connection.vendor == "postgresql" else 4)
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]


class Case:
    """One worker of one stage, and the steps that can happen."""

    def __init__(self, market: StandIn) -> None:
        self.market = market
        self.market.silent = False
        self.stage: Stage = make.stage(make.project(budget="500.00"), answers=3)
        self.worker: Worker = make.worker(market.sign_up_worker())
        self.paid = self.written = 0
        self.answer()

    def answer(self) -> None:
        """One that comes now, fetched and scored."""
        self._answered(timezone.now())

    def late_answer(self) -> None:
        """One that was submitted an hour ago and is fetched only now."""
        self._answered(timezone.now() - timedelta(hours=1))

    def _answered(self, at: datetime) -> None:
        begun = at - timedelta(seconds=40)
        row = make.assignment(make.hit(make.item(self.stage)), self.worker, accepted_at=begun, submitted_at=at)
        make.label(row)
        self.paid += 1
        eligibility.recheck([row.pk])
        recount(Assignment.objects.filter(pk=row.pk))
        refresh_worker_stats(self.stage, [self.worker.pk])

    def block(self) -> None:
        blocking.intend_by_hand(self.stage, [self.worker.worker_id], "Chooses by chance.", None)
        self._finish()

    def pause(self) -> None:
        blocking.pause(self.stage, [self.worker.worker_id], 24, "", None)
        self._finish()

    def undo(self) -> None:
        row = Block.objects.standing().filter(worker=self.worker).first()
        if row:
            with suppress(UnreachableError):
                blocking.undo(row, None)

    def time_passes(self) -> None:
        Block.objects.filter(worker=self.worker, until__isnull=False).update(until=timezone.now())
        blocking.end_pauses()
        self._finish()

    def message(self) -> None:
        self.written += 1
        text = {self.worker.worker_id: "Please look again."}
        # Confirmed twice, as a double click does.
        for _ in range(2):
            messaging.write(self.stage, f"Note {self.written}", text, f"page-{self.stage.pk}-{self.written}", None)
        self._finish()

    def marketplace_goes(self) -> None:
        self.market.silent = True

    def marketplace_comes_back(self) -> None:
        self.market.silent = False
        self._finish()

    def _finish(self) -> None:
        with suppress(UnreachableError):
            blocking.finish(self.stage)
        with suppress(UnreachableError):
            messaging.send(self.stage.project)

    def is_paused(self) -> bool:
        """Whether the page of a new HIT turns the worker away for it."""
        claim = eligibility.Claim(make.hit(make.item(self.stage)), self.worker.worker_id, "3NEW")
        [found] = eligibility.judge(self.stage, [claim])
        return found is not None and found.cause == eligibility.Cause.PAUSED

    def check(self) -> None:
        rows = Block.objects.filter(worker=self.worker)
        assert rows.standing().count() <= 1
        blocked = rows.in_force().exists()
        for label in Label.objects.filter(worker=self.worker).select_related("assignment"):
            assert label.void == (blocked or label.assignment.held != ""), label
        assert Assignment.objects.filter(worker=self.worker, state="Approved").count() == self.paid
        notes = [subject for worker, subject, _ in self.market.notes if worker == self.worker.worker_id]
        assert notes == [f"Note {number}" for number in range(1, len(notes) + 1)]
        if not self.market.silent:
            assert len(notes) == self.written
            assert (self.worker.worker_id in self.market.holders) == rows.keeping_out().exists()
            assert not rows.filter(state__in=[Block.State.INTENDED, Block.State.LIFTING]).exists()
        if not blocked and not rows.blocks().exists():
            # A pause alone takes nothing away.
            assert not Label.objects.filter(worker=self.worker, void=True).exists()


STEPS: list[Callable[[Case], None]] = [
    Case.answer,
    Case.late_answer,
    Case.block,
    Case.pause,
    Case.undo,
    Case.time_passes,
    Case.message,
    Case.marketplace_goes,
    Case.marketplace_comes_back,
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=EXAMPLES)
@given(steps=st.lists(st.sampled_from(STEPS), max_size=12))
def test_what_has_to_hold_holds_after_each_step(stand_in: StandIn, steps: list[Callable[[Case], None]]) -> None:
    case = Case(stand_in)
    for step in [*steps, Case.marketplace_comes_back]:
        step(case)
        case.check()


def test_a_pause_becomes_a_block_and_ends_as_one(stand_in: StandIn) -> None:
    case = Case(stand_in)
    for step in (Case.pause, Case.block, Case.time_passes):
        step(case)
        case.check()
    row = Block.objects.get(worker=case.worker)
    assert row.until is None and row.state == Block.State.GRANTED and row.evidence["reason"] == "Chooses by chance."


def test_a_pause_ends_when_its_time_is_over(stand_in: StandIn) -> None:
    case = Case(stand_in)
    case.pause()
    assert case.is_paused()
    assert blocking.end_pauses() == 0
    Block.objects.update(until=timezone.now())
    assert blocking.end_pauses() == 1 and blocking.unfinished() == [case.stage.pk]
    blocking.finish(case.stage)
    case.check()
    assert Block.objects.get(worker=case.worker).in_words == "Pause over"
    assert not case.is_paused()


def test_a_later_end_takes_the_place_of_an_earlier_one_and_a_blocked_worker_stays_blocked(stand_in: StandIn) -> None:
    case = Case(stand_in)
    who = [case.worker.worker_id]
    assert blocking.pause(case.stage, who, 24, "", None) == 1
    assert blocking.pause(case.stage, who, 12, "", None) == 0
    assert blocking.pause(case.stage, who, 48, "", None) == 1
    blocking.intend_by_hand(case.stage, who, "Enough.", None)
    assert blocking.pause(case.stage, who, 100, "", None) == 0
    assert Block.objects.get(worker=case.worker).until is None


@pytest.mark.parametrize("hours", [0, 721])
def test_a_pause_has_an_end_that_can_be_seen(stand_in: StandIn, hours: int) -> None:
    case = Case(stand_in)
    with refused("reason_refused", match="1 to 720 hours"):
        blocking.pause(case.stage, [case.worker.worker_id], hours, "", None)
    assert not Block.objects.exists()
