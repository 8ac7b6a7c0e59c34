"""Waiting for what another process does: for a state, with an end that a busy machine does not reach."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

from ops.surroundings import StackError

#: A busy machine takes ten times as long as a quiet one; only what hangs comes here.
PATIENCE_SECONDS = 180.0

#: The same for what a page in a browser does; Playwright's own five seconds are too few beside other work.
PAGE_MILLISECONDS = 60_000


class ServiceNotStartedError(StackError):
    """A service did not answer after its start, or ended. It may at the next try: `make test` makes one."""


def until(true: Callable[[], object], what: str, seconds: float = PATIENCE_SECONDS, pause: float = 0.1) -> None:
    """Return when it is so. Raises StackError, with `what` for a sentence, when it is not after so many seconds."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise StackError(f"Not within {seconds:g} seconds: {what}.")
        time.sleep(pause)


def wait_started(
    name: str,
    answers: Callable[[], bool],
    process: subprocess.Popen[bytes],
    said: Callable[[], str],
    seconds: float = PATIENCE_SECONDS,
) -> None:
    """Return when it answers. Raises ServiceNotStartedError with what it said when it ends or stays silent."""
    end = time.monotonic() + seconds
    while not answers():
        if process.poll() is not None:
            raise ServiceNotStartedError(f"{name} has ended. {said()}".rstrip())
        if time.monotonic() > end:
            raise ServiceNotStartedError(f"{name} did not answer within {seconds:g} seconds. {said()}".rstrip())
        time.sleep(0.05)
