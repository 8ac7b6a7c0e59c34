"""A lease keeps two workers from doing one job at once. It ends with its holder.

A thread renews it while the work runs, however long one step of it takes. The holder is a process, named so that every
process of the same machine can see whether it still lives: a lease of a dead one is taken over at once. On another
machine, or in another container, only time tells.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path

import psutil
from django.db import DatabaseError, connection
from django.utils import timezone

from hits.core.models.jobs import Lease

log = logging.getLogger(__name__)
# How far two readings of one process's start time may differ: the clock may have been set in between.
SAME_START_SECONDS = 2.0
# Longer than SQLite waits for its lock.
JOIN_SECONDS = 30


class LeaseLostError(Exception):
    """Somebody else took the lease after it had run out; stop, they go on."""


class StoppedError(Exception):
    """A lead stopped what the job does, or it has ended elsewhere."""


@dataclass(frozen=True)
class Holder:
    """A process, and a word that tells its leases apart. `machine` stands for host, boot and process table."""

    machine: str
    pid: int
    started: float
    word: str

    @classmethod
    def here(cls) -> Holder:
        own = psutil.Process()
        return cls(_machine(), own.pid, own.create_time(), secrets.token_hex(8))

    @classmethod
    def read(cls, text: str) -> Holder | None:
        """None for a holder that was written in another form."""
        parts = text.split("|")
        try:
            machine, pid, started, word = parts
            return cls(machine, int(pid), float(started), word)
        except ValueError:
            return None

    def __str__(self) -> str:
        return f"{self.machine}|{self.pid}|{self.started:.2f}|{self.word}"

    @property
    def is_dead(self) -> bool:
        """Only what is certain: a process of another machine counts as alive."""
        if self.machine != _machine():
            return False
        try:
            process = psutil.Process(self.pid)
            if process.status() == psutil.STATUS_ZOMBIE:
                return True
            return abs(process.create_time() - self.started) > SAME_START_SECONDS
        except psutil.NoSuchProcess:
            return True
        except psutil.Error:
            return False


@cache
def _machine() -> str:
    """The same for two processes that see each other's process ids, and for no others."""
    # Containers of one host may share its name and its boot, never its table of processes.
    marks = [Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")]
    boot = marks[0].read_text().strip() if marks[0].exists() else f"{psutil.boot_time():.0f}"
    table = os.readlink(marks[1]) if marks[1].is_symlink() else ""
    return f"{os.uname().nodename[:60]}/{boot}/{table}".replace("|", "-")


class Held:
    def __init__(self, name: str, holder: str, seconds: int) -> None:
        self.name, self.holder, self.seconds = name, holder, seconds

    def renew(self) -> None:
        """Raises LeaseLostError."""
        until = timezone.now() + timedelta(seconds=self.seconds)
        if not Lease.objects.filter(name=self.name, holder=self.holder).update(until=until):
            raise LeaseLostError(self.name)


@contextmanager
def lease(name: str, seconds: int = 60) -> Iterator[Held | None]:
    """Yields None when somebody holds the lease; otherwise what renews it."""
    held = Held(name, str(Holder.here()), seconds)
    if not _take(held):
        yield None
        return
    over = threading.Event()
    timer = threading.Thread(target=_renew_again_and_again, args=(held, over), daemon=True, name=f"lease {name}")
    timer.start()
    try:
        yield held
    finally:
        over.set()
        timer.join(JOIN_SECONDS)
        # Without a holder, so that a renewal that is still on its way comes to nothing.
        Lease.objects.filter(name=name, holder=held.holder).update(until=timezone.now(), holder="")


def _renew_again_and_again(held: Held, over: threading.Event) -> None:
    """In a thread of its own, three times in each term. The work learns of a lost lease when it renews by itself."""
    try:
        while not over.wait(held.seconds / 3):
            try:
                held.renew()
            except LeaseLostError:
                return
            except DatabaseError as error:
                # On SQLite the work itself may hold the lock; then nobody else can take the lease either.
                log.info("The lease %s is renewed later: %s", held.name, error)
                connection.close()
    finally:
        connection.close()


def _take(held: Held) -> bool:
    now = timezone.now()
    columns = {"holder": held.holder, "until": now + timedelta(seconds=held.seconds)}
    standing, created = Lease.objects.get_or_create(name=held.name, defaults=columns)
    if created or Lease.objects.filter(name=held.name, until__lte=now).update(**columns):
        return True
    holder = Holder.read(standing.holder)
    # By the holder's name: whoever took the lease in this moment keeps it.
    return bool(
        holder
        and holder.is_dead
        and Lease.objects.filter(name=held.name, holder=str(standing.holder)).update(**columns)
    )
