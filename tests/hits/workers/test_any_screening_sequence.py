"""Answers to a test of workers, holds, decisions, blocks, tries and an absent marketplace, in any order.

What holds after each step: one result stands at most; it is what the last answer that counts as a try says, and 0 while
that answer does not count; nobody is told to have passed who did not; and once the marketplace answers, it holds
the same value.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hits.answers.rules import eligibility
from hits.judging.rules.counting import recount
from hits.judging.rules.summaries import refresh_worker_stats
from hits.models import Assignment, Block, Grant, Item, Label, Stage, Worker, WorkerMessage
from hits.mturk.errors import UnreachableError
from hits.people.verbs import messaging
from hits.workers.verbs import blocking, granting, screening
from tests.hits import factories as make
from tests.hits.stand_in import StandIn

# The rules are the same on any database; how it keeps them is seen in a few. HYPOTHESIS_PROFILE=thorough tries more.
EXAMPLES = settings().max_examples // (10 if connection.vendor == "postgresql" else 4)
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]
KEY, ITEMS, RETRIES = "wet-test", 4, 1


class Case:
    """One worker and a test of four items, three of them to be right, that can be tried twice."""

    def __init__(self, market: StandIn) -> None:
        self.market = market
        self.market.silent = False
        requirements = [{"qualification": KEY, "comparator": "DoesNotExist", "guards": "PreviewAndAccept"}]
        self.stage: Stage = make.stage(
            make.project(budget="500.00"), requirements=requirements, grants=KEY, settings={"min_seconds": 0}
        )
        columns = {"screening_share": 0.75, "screening_retries": RETRIES, "screening_hours": 1, "items_per_hit": ITEMS}
        Stage.objects.filter(pk=self.stage.pk).update(**columns)
        self.stage.refresh_from_db()
        self.worker: Worker = make.worker(market.sign_up_worker())
        # Right answers of each answer, in their order.
        self.right: dict[int, int] = {}
        self.clock = timezone.now() - timedelta(days=2)

    def answer(self, right: int, *, held: str = "") -> None:
        items = make.items(self.stage, ITEMS, state=Item.State.CHECK)
        self.clock += timedelta(minutes=5)
        taken = timedelta(seconds=40 if not held else 700)
        times = {"accepted_at": self.clock - taken, "submitted_at": self.clock}
        row = make.assignment(make.hit_about(items), self.worker, **times)
        for number, item in enumerate(items):
            make.label(row, item=item, unit="entity", value="no", correct=number < right)
        self.right[row.pk] = right
        if held:
            # Longer than the assignment's time and the grace.
            Assignment.objects.filter(pk=row.pk).update(accepted_at=self.clock - timedelta(hours=5))
        self._judge()

    def good(self) -> None:
        self.answer(3)

    def bad(self) -> None:
        self.answer(2)

    def late(self) -> None:
        """All right, and submitted long after its time was over."""
        self.answer(4, held="late")

    def admit(self) -> None:
        self._mine().exclude(held="").update(admitted=True)
        self._judge()

    def reject(self) -> None:
        self._mine().filter(pk=max(self.right, default=0)).update(state=Assignment.State.REJECTED)
        self._judge()

    def time_passes(self) -> None:
        self.clock += timedelta(hours=2)
        screening.let_try_again(self.clock)
        self._finish()

    def block(self) -> None:
        if self.right:
            refresh_worker_stats(self.stage, [self.worker.pk])
            blocking.intend_by_hand(self.stage, [self.worker.worker_id], "Chooses by chance.", None)
        self._finish()

    def undo(self) -> None:
        row = Block.objects.standing().filter(worker=self.worker).first()
        if row:
            with suppress(UnreachableError):
                blocking.undo(row, None)
        self._finish()

    def marketplace_goes(self) -> None:
        self.market.silent = True

    def marketplace_comes_back(self) -> None:
        self.market.silent = False
        with suppress(UnreachableError):
            blocking.finish(self.stage)
        self._finish()

    def _mine(self) -> QuerySet[Assignment]:
        return Assignment.objects.filter(worker=self.worker)

    def _judge(self) -> None:
        eligibility.recheck(list(self.right))
        recount(self._mine())
        self._finish()

    def _finish(self) -> None:
        for _ in range(2):
            screening.grade(self.stage)
            with suppress(UnreachableError):
                granting.finish(self.stage.project)
            # By the clock of these steps.
            Grant.objects.filter(withdrawn_at__gt=self.clock).update(withdrawn_at=self.clock)
        with suppress(UnreachableError):
            messaging.send(self.stage.project)

    def tries(self) -> list[Assignment]:
        return list(self._mine().filter(eligibility.ELIGIBLE).order_by("submitted_at", "pk"))

    def value_of(self, row: Assignment) -> int:
        counting = Label.objects.counting().filter(assignment=row).exists()
        counts = counting and (not row.held or row.admitted) and row.state != Assignment.State.REJECTED
        return 25 * self.right[row.pk] if counts else 0

    def held(self) -> int | None:
        """At the marketplace."""
        of_test = {name: value for name, value in self.market.values.items() if "3Wet test" in name[0]}
        return next((value for (_, worker), value in of_test.items() if worker == self.worker.worker_id), None)

    def check(self) -> None:
        standing = list(Grant.objects.filter(worker=self.worker, key=KEY).exclude(state="withdrawn"))
        assert len(standing) <= 1
        tries = self.tries()
        passed = [row for row in tries if self.value_of(row) >= 75]
        for grant in standing:
            assert tries and (grant.state == "withdrawing" or grant.value == self.value_of(tries[-1]))
            assert grant.value < 75 or passed
        told = WorkerMessage.objects.filter(worker=self.worker)
        for row in told.filter(subject__startswith="Passed"):
            assert max(self.right.values()) >= 3, row.text
        assert told.count() <= 2 * len(self.right)
        if not self.market.silent:
            assert all(grant.state == "granted" for grant in standing)
            assert self.held() == (standing[0].value if standing else None)


STEPS: list[Callable[[Case], None]] = [
    Case.good,
    Case.bad,
    Case.late,
    Case.admit,
    Case.reject,
    Case.time_passes,
    Case.block,
    Case.undo,
    Case.marketplace_goes,
    Case.marketplace_comes_back,
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=EXAMPLES)
@given(steps=st.lists(st.sampled_from(STEPS), max_size=10))
def test_what_has_to_hold_holds_after_each_step(stand_in: StandIn, steps: list[Callable[[Case], None]]) -> None:
    case = Case(stand_in)
    for step in [*steps, Case.marketplace_comes_back]:
        step(case)
        case.check()


def test_a_failed_try_is_followed_by_one_more(stand_in: StandIn) -> None:
    case = Case(stand_in)
    for step in (Case.bad, Case.good, Case.time_passes, Case.bad, Case.time_passes, Case.good):
        step(case)
        case.check()
    assert [row.held_for for row in Assignment.objects.order_by("pk")] == ["", "other-part", "", "other-part"]
    assert case.held() == 50
