import logging
import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import OperationalError, close_old_connections
from django.utils import timezone

from marketplace.verbs import assignments, hits

log = logging.getLogger(__name__)
_BATCH = 200


def tick() -> int:
    """Do all that is due now; returns how many rows changed."""
    total = 0
    while changed := assignments.sweep(timezone.now(), _BATCH):
        total += changed
    now = timezone.now()
    return total + hits.dispose_forgotten(now) + hits.forget_tokens(now)


class Command(BaseCommand):
    help = "Keep doing what the clock makes due: time-outs, approval by time, expiry, disposal."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--interval", type=float, default=5.0, help="seconds between two rounds")
        parser.add_argument("--once", action="store_true", help="one round, then end")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["once"]:
            self.stdout.write(f"{tick()} rows changed")
            return
        stop = threading.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda number, frame: stop.set())
        while not stop.wait(options["interval"]):
            close_old_connections()
            try:
                tick()
            except OperationalError:
                # A database that restarts must not end the clock; the next round starts afresh.
                log.exception("This round could not be finished; the next one tries again.")
