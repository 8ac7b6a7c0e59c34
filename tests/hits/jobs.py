"""Jobs without a broker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from celery import current_app


@contextmanager
def jobs_run_here() -> Iterator[None]:
    """Within, `task.delay` runs the task at once, in this process; its errors come out of the call."""
    conf = current_app.conf
    before = conf.task_always_eager, conf.task_eager_propagates
    conf.task_always_eager, conf.task_eager_propagates = True, True
    try:
        yield
    finally:
        conf.task_always_eager, conf.task_eager_propagates = before
