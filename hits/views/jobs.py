"""Starts background jobs from a view."""

from __future__ import annotations

import logging
from typing import Any

from celery import Task
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest
from kombu.exceptions import OperationalError

from hits.flow.pipeline.serving import ON_ITS_WAY_SECONDS
from hits.tasks import fetch_announced

log = logging.getLogger(__name__)


def start(request: HttpRequest, task: Task, *arguments: Any, said: str) -> None:
    """Queue the task and say so. The row that it works on is committed before, so a queue that does not answer
    delays the work and loses nothing."""
    try:
        task.delay(*arguments)
    except OperationalError:
        messages.warning(request, "The job queue does not answer. Nothing is lost: try again when it is back.")
    else:
        messages.success(request, said)


def fetch_soon(hit_pk: int) -> None:
    """Have an announced answer fetched when it is there. The worker does not wait for a queue that does not answer:
    the row of the HIT says that it is due, and the beat comes to it."""
    expires = ON_ITS_WAY_SECONDS + settings.HARVEST_SECONDS
    try:
        fetch_announced.apply_async((hit_pk,), countdown=ON_ITS_WAY_SECONDS, expires=expires, retry=False)
    except OperationalError:
        log.warning("The job queue does not answer: HIT %s is fetched with the others.", hit_pk)
