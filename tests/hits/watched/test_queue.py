"""Jobs that no queue takes: kept once, handed on in their order, and nobody waits for the queue twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError

from hits import tasks
from hits.core.jobs import queue
from hits.models import WaitingJob
from ops.programs import programs
from ops.surroundings import Ports

pytestmark = pytest.mark.django_db


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The tries at a queue that does not answer."""
    tried: list[Any] = []

    def refuse(*arguments: Any, **options: Any) -> None:
        tried.append(arguments)
        raise OperationalError("no broker")

    for task in (tasks.conclude_stage, tasks.send_bonuses):
        monkeypatch.setattr(task, "delay", refuse)
        monkeypatch.setattr(task, "apply_async", refuse)
    return tried


def test_after_a_try_in_vain_nobody_waits_for_the_queue_again_for_a_while(tried: list[Any]) -> None:
    assert [queue.start(tasks.conclude_stage, pk) for pk in (1, 2, 1)] == [False, False, False]
    assert tried == [(1,)]
    assert [row.arguments for row in WaitingJob.objects.all()] == [[1], [2]]
    queue.absence.until = 0.0
    assert not queue.offer(tasks.send_bonuses, 3, expires=60)
    assert len(tried) == 2 and WaitingJob.objects.count() == 2


def test_jobs_are_handed_on_in_their_order_and_stay_while_the_queue_does_not_answer(
    tried: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for pk in (1, 2):
        queue.start(tasks.conclude_stage, pk)
    queue.absence.until = 0.0
    assert (queue.take_up(), WaitingJob.objects.count()) == (0, 2)
    queue.absence.until = 0.0
    taken: list[int] = []
    monkeypatch.setattr(tasks.conclude_stage, "delay", taken.append)
    assert (queue.take_up(), taken, WaitingJob.objects.count()) == (2, [1, 2], 0)


def test_a_job_that_the_program_does_not_know_any_more_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    monkeypatch.setattr(tasks.conclude_stage, "delay", taken.append)
    WaitingJob.objects.keep("hits.tasks.of_long_ago", [1])
    WaitingJob.objects.keep("hits.tasks.conclude_stage", [2])
    assert (queue.take_up(), taken, WaitingJob.objects.count()) == (2, [2], 0)


def test_every_queue_of_a_job_is_declared_and_taken_by_a_program() -> None:
    jobs = [task for name, task in current_app.tasks.items() if name.startswith("hits.tasks.")]
    asked = {getattr(task, "queue", None) or current_app.conf.task_default_queue for task in jobs}
    started = [list(one.command) for one in programs(Path(), Ports.free(), with_broker=False)]
    taken = {name for each in started if "--queues" in each for name in each[each.index("--queues") + 1].split(",")}
    assert asked == taken == {declared.name for declared in settings.CELERY_TASK_QUEUES}


def test_what_may_take_minutes_is_apart_from_harvests_and_decisions() -> None:
    long = (tasks.import_upload, tasks.publish_batch, tasks.compute, tasks.make_release, tasks.finish_sample)
    assert {task.queue for task in long} == {queue.LONG}
    for task in (tasks.harvest_stage, tasks.conclude_stage, tasks.finish_reviews, tasks.resume_all):
        assert getattr(task, "queue", None) is None
