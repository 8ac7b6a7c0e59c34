"""A lease keeps two workers from doing one job at once. It ends by itself when its holder dies."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import models
from django.utils import timezone


class Lease(models.Model):
    name = models.CharField(max_length=100, primary_key=True)
    holder = models.CharField(max_length=200)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class LeaseLostError(Exception):
    """Somebody else took the lease after it had run out; stop, they go on."""


class Held:
    def __init__(self, name: str, holder: str, seconds: int) -> None:
        self.name, self.holder, self.seconds = name, holder, seconds

    def renew(self) -> None:
        until = timezone.now() + timedelta(seconds=self.seconds)
        if not Lease.objects.filter(name=self.name, holder=self.holder).update(until=until):
            raise LeaseLostError(self.name)


@contextmanager
def lease(name: str, seconds: int = 60) -> Iterator[Held | None]:
    """Yields None when somebody holds the lease; otherwise what renews it."""
    now = timezone.now()
    held = Held(name, secrets.token_hex(16), seconds)
    until = now + timedelta(seconds=seconds)
    _, created = Lease.objects.get_or_create(name=name, defaults={"holder": held.holder, "until": until})
    taken = created or Lease.objects.filter(name=name, until__lte=now).update(holder=held.holder, until=until)
    if not taken:
        yield None
        return
    try:
        yield held
    finally:
        Lease.objects.filter(name=name, holder=held.holder).update(until=timezone.now())
