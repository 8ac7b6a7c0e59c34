"""Starts background jobs: the one place that hands them to the queue.

Without a queue nothing that was asked for is lost, and nobody waits for it: the job is a row (`WaitingJob`) until
`tasks.resume_all` hands it on. After a try in vain nobody tries again for a few seconds.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from celery import Task, current_app
from kombu.exceptions import OperationalError

from hits.models import WaitingJob

log = logging.getLogger(__name__)
# Besides the queue of every other job: for what a worker's page has just told, which is taken before all else; and for
# what may take minutes, which has processes of its own, so that harvests and decisions never wait behind it.
HINTS, LONG = "hints", "long"
ABSENT_SECONDS = 3.0
# In one round of `resume_all`.
MOST_TAKEN_UP = 1000


class _Absence:
    """Until when nobody asks a queue that did not answer (monotonic)."""

    until = 0.0


absence = _Absence()


def start(task: Task, *arguments: Any) -> bool:
    """Whether the queue took the job. Otherwise it begins when the queue is back. Call it after the commit."""
    if offer(task, *arguments):
        return True
    WaitingJob.objects.keep(task.name, arguments)
    return False


def start_named(name: str, *arguments: Any) -> bool:
    """`start` by the name of a task in `hits.tasks`, for what that module stands on."""
    return start(current_app.tasks[f"hits.tasks.{name}"], *arguments)


def offer(task: Task, *arguments: Any, **options: Any) -> bool:
    """Whether the queue took the job; nobody remembers it otherwise. For what is asked for again anyway."""
    if time.monotonic() < absence.until:
        return False
    try:
        if options:
            task.apply_async(arguments, **options)
        else:
            task.delay(*arguments)
    except OperationalError:
        absence.until = time.monotonic() + ABSENT_SECONDS
        log.warning("The job queue does not answer: %s waits.", task.name)
        return False
    return True


def take_up() -> int:
    """Hand on what waits for a queue; how many jobs. All jobs allow that one is handed on twice."""
    done = 0
    for row in WaitingJob.objects.all()[:MOST_TAKEN_UP]:
        task = current_app.tasks.get(row.task)
        if task is None:
            log.error("There is no job %s any more: it is dropped.", row)
        elif not offer(task, *row.arguments):
            break
        row.delete()
        done += 1
    return done
