"""Starts background jobs from a view."""

from __future__ import annotations

from typing import Any

from celery import Task
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest

from hits.answers.verbs.serving import ON_ITS_WAY_SECONDS
from hits.core.jobs import queue
from hits.tasks import fetch_announced


def start(request: HttpRequest, task: Task, *arguments: Any, said: str) -> None:
    """Queue the task and say so. The row that it works on is committed before."""
    if queue.start(task, *arguments):
        messages.success(request, said)
    else:
        messages.warning(request, "The job queue does not answer. This is kept, and begins when it is back.")


def fetch_soon(hit_pk: int) -> None:
    """Have an announced answer fetched when it is there. Where the queue does not answer, the row of the HIT says that
    it is due, and the beat comes to it."""
    expires = ON_ITS_WAY_SECONDS + settings.HARVEST_SECONDS
    queue.offer(fetch_announced, hit_pk, countdown=ON_ITS_WAY_SECONDS, expires=expires)
