import logging
import signal
import threading
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import InterfaceError, OperationalError, close_old_connections, connection

from common.database_limits import bound_jobs
from common.migrations import exit_on_fault
from marketplace.verbs import (
    assignments,
    attempts,
    clock,
    deliveries,
    hits,
    letters,
    operators,
    qualification_requests,
    qualifications,
    reviews,
    summaries,
    tokens,
)

log = logging.getLogger(__name__)
_BATCH = 200


def tick() -> int:
    """Do all that is due now; returns how many rows changed."""
    total = 0
    while changed := assignments.sweep(clock.now(), _BATCH):
        total += changed
    now = clock.now()
    operators.beat("tick", now)
    summaries.refresh_when_older(summaries.EVERY, now)
    total += reviews.run_due(now) + letters.send_due(now)
    total += qualification_requests.expire_overdue(now)
    total += hits.dispose_forgotten(now) + tokens.forget(now) + deliveries.forget(now) + attempts.forget(now)
    # After disposing: it may have been the last HIT that required a deleted type.
    return total + qualifications.finish_deletions()


def send() -> int:
    """Send the notifications that are due; returns how many were tried."""
    return deliveries.deliver(clock.now())


class Command(BaseCommand):
    help = "Keep doing what the clock makes due: time-outs, approval by time, expiry, disposal; send notifications."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--interval", type=float, default=5.0, help="seconds between two rounds")
        parser.add_argument("--send-interval", type=float, default=1.0, help="seconds between two looks at the outbox")
        parser.add_argument("--once", action="store_true", help="one round, then end")

    def handle(self, *args: Any, **options: Any) -> None:
        bound_jobs()
        exit_on_fault()
        if options["once"]:
            self.stdout.write(f"{tick() + send()} rows changed")
            return
        stop = threading.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda number, frame: stop.set())
        # A thread of its own: a destination that does not answer must not hold up the clock.
        sender = threading.Thread(target=_repeat, args=(send, stop, options["send_interval"]))
        sender.start()
        _repeat(tick, stop, options["interval"])
        sender.join()


def _repeat(work: Callable[[], int], stop: threading.Event, interval: float) -> None:
    try:
        while not stop.wait(interval):
            close_old_connections()
            try:
                work()
            except (OperationalError, InterfaceError):
                # A database that restarts must not end the clock; the next round starts afresh.
                log.exception("This round could not be finished; the next one tries again.")
    finally:
        # When one of the two stops, the whole process ends and is started again, instead of doing half its work.
        stop.set()
        connection.close()
