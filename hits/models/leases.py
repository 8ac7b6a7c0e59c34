"""Who is doing a job at the moment, so that no two do it at once: see `hits.domain.leases`."""

from __future__ import annotations

from django.db import models


class Lease(models.Model):
    name = models.CharField(max_length=100, primary_key=True)
    holder = models.CharField(max_length=200)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
