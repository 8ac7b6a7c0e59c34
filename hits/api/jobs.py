"""Starts background jobs from the API."""

from __future__ import annotations

import logging
from typing import Any

from celery import Task
from kombu.exceptions import OperationalError

from hits.refusals import Refusal

log = logging.getLogger(__name__)


class QueueUnreachableError(Refusal):
    """The broker does not answer, and nothing remembers the job. Ask again later."""

    error_code = "queue_unreachable"
    http_status = 503


def start(task: Task, *arguments: Any) -> None:
    """Queue a job that only this request knows of. Raises QueueUnreachableError."""
    try:
        task.delay(*arguments)
    except OperationalError as error:
        raise QueueUnreachableError("The job queue does not answer. Nothing was started: ask again later.") from error


def start_kept(task: Task, *arguments: Any) -> None:
    """Queue a job whose row is committed: without a broker it starts late (`tasks.resume_all`), but it starts."""
    try:
        task.delay(*arguments)
    except OperationalError:
        log.warning("The job queue does not answer: %s%s starts when it is back.", task.name, arguments)
