"""What Celery's signals tell: the id that a job runs under, how jobs end, when beat and each job ran last.

Counted in Redis, through which the jobs go anyway: without it there are no jobs to count.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from celery import signals
from django.conf import settings

from common import request_id
from hits.mturk.calls import STEPS
from hits.mturk.shared import Shared

HASH = "jobs"
# Counts that nobody adds to for so long are forgotten.
LIVES = 400 * 86_400
BEAT = "beat"
_HEADER = "request_id"


@cache
def shared() -> Shared:
    return Shared(settings.REDIS_URL, "celery")


class _Process:
    """What this process knows of itself and of the jobs that it has begun."""

    is_beat = False
    began: dict[str, tuple[float, AbstractContextManager[str]]] = {}


@signals.before_task_publish.connect
def hand_on_the_id(headers: dict[str, Any] | None = None, **more: Any) -> None:
    if headers is not None and request_id.current():
        headers[_HEADER] = request_id.current()


@signals.beat_init.connect
def note_beat(**more: Any) -> None:
    _Process.is_beat = True


@signals.after_task_publish.connect
def note_what_beat_sent(**more: Any) -> None:
    if _Process.is_beat:
        _count({f"last:{BEAT}=": f"{time.time():.0f}"})


@signals.task_prerun.connect
def begin(task_id: str, task: Any, **more: Any) -> None:
    under = request_id.under(getattr(task.request, _HEADER, ""))
    under.__enter__()
    _Process.began[task_id] = time.monotonic(), under


@signals.task_postrun.connect
def end(task_id: str, task: Any, state: str | None = None, **more: Any) -> None:
    began, under = _Process.began.pop(task_id, (None, None))
    if began is None or under is None:
        return
    milliseconds = round(1000 * (time.monotonic() - began))
    name = str(task.name).rpartition(".")[2]
    _count(
        {
            f"{name}:{(state or 'unknown').lower()}": 1,
            f"{name}:ms": milliseconds,
            f"{name}:<{bisect_left(STEPS, milliseconds)}": 1,
            f"last:{name}=": f"{time.time():.0f}",
        }
    )
    under.__exit__(None, None, None)


def _count(added: Mapping[str, int | str]) -> None:
    # Jobs of tests wait in the process.
    if settings.CELERY_BROKER_URL == settings.REDIS_URL:
        shared().count({HASH: LIVES}, added)


def counted() -> dict[str, str]:
    """All fields; empty while Redis is away."""
    found = shared().counted([HASH])
    return found[0] if found else {}
