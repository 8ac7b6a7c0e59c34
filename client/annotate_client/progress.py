"""How far something is that goes on at the server, and waiting for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

Row = TypeVar("Row")

#: The first pause between two looks in seconds, how much longer each is than the one before, and the longest.
FIRST_PAUSE, LONGER, LONGEST_PAUSE = 0.3, 1.5, 5.0


@dataclass(frozen=True)
class Progress:
    """`done` of `total`; `total` is 0 while nobody knows it."""

    what: str
    done: int
    total: int

    def __str__(self) -> str:
        return f"{self.what}: {self.done:,} of {self.total:,}" if self.total else self.what


#: What takes `progress=` calls it at the beginning and at every change.
Report = Callable[[Progress], None]


def print_progress(progress: Progress) -> None:
    """A `progress=` that writes a line to stderr at every change."""
    print(progress, file=sys.stderr, flush=True)


def watch(
    look: Callable[[], Row],
    describe: Callable[[Row], Progress],
    is_over: Callable[[Row], bool],
    report: Report | None,
    timeout: float,
) -> tuple[Row, bool]:
    """Look until it is over, or `timeout` seconds have gone by; the newest row, and whether it is over."""
    end = time.monotonic() + timeout
    pause, told = FIRST_PAUSE, None
    while True:
        row = look()
        progress = describe(row)
        if report and progress != told:
            report(progress)
            told = progress
        left = end - time.monotonic()
        if is_over(row) or left <= 0:
            return row, is_over(row)
        time.sleep(min(pause, left))
        pause = min(pause * LONGER, LONGEST_PAUSE)
