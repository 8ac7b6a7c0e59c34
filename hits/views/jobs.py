"""Starts background jobs from a view."""

from __future__ import annotations

from typing import Any

from celery import Task
from django.contrib import messages
from django.http import HttpRequest
from kombu.exceptions import OperationalError


def start(request: HttpRequest, task: Task, *arguments: Any, said: str) -> None:
    """Queue the task and say so. The row that it works on is committed before, so a queue that does not answer
    delays the work and loses nothing."""
    try:
        task.delay(*arguments)
    except OperationalError:
        messages.warning(request, "The job queue does not answer. Nothing is lost: try again when it is back.")
    else:
        messages.success(request, said)
