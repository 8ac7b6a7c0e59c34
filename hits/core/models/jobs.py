"""Background work: what waits to be started, and who does what at the moment."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from django.db import models


class Lease(models.Model):
    name = models.CharField(max_length=100, primary_key=True)
    holder = models.CharField(max_length=200)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class WaitingJobQuerySet(models.QuerySet["WaitingJob"]):
    def keep(self, task: str, arguments: Sequence[Any]) -> None:
        """Write it down; a job that waits already waits once."""
        said = json.dumps([task, list(arguments)], sort_keys=True)
        key = hashlib.sha256(said.encode()).hexdigest()
        row = self.model(key=key, task=task, arguments=list(arguments))
        self.bulk_create([row], ignore_conflicts=True)


class WaitingJob(models.Model):
    key = models.CharField(max_length=64, unique=True, help_text="Of the job's name and arguments.")
    task = models.CharField(max_length=100)
    arguments = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WaitingJobQuerySet.as_manager()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.task}{tuple(self.arguments)}"
