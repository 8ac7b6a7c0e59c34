"""How many calls of this process are in flight: more while calls succeed, half as many when the marketplace is ill."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import TypeVar

from hits.mturk.errors import CredentialsError, MarketplaceError, UnreachableError

T = TypeVar("T")
R = TypeVar("R")

START = 4.0
# A burst of faults is one fault.
PAUSE_SECONDS = 1.0
# So many rows in succession without an answer, and the marketplace is taken for silent.
SILENT = 4


class Concurrency:
    """A limit between 1 and `most`, moved by how calls end: additive increase, multiplicative decrease."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._limit = min(START, float(most))
        self._halved_at = 0.0
        self._lock = threading.Lock()

    @property
    def limit(self) -> int:
        return int(self._limit)

    def succeeded(self) -> None:
        """One more after as many successes as there are calls in flight."""
        with self._lock:
            self._limit = min(float(self.most), self._limit + 1 / self._limit)

    def faulted(self, now: float | None = None) -> None:
        """A timeout, a cut connection or a passing fault; at most one counts in a second."""
        now = time.monotonic() if now is None else now
        with self._lock:
            if now - self._halved_at >= PAUSE_SECONDS:
                self._limit, self._halved_at = max(1.0, self._limit / 2), now


class Run:
    """`work` for each row in threads, at most `concurrency.limit` at a time. See `Gateway.run`."""

    def __init__(self, concurrency: Concurrency, beat: Callable[[], object] | None, beat_seconds: float) -> None:
        self._concurrency = concurrency
        self._beat, self._beat_seconds = beat, beat_seconds
        self._beaten_at = time.monotonic()
        self._silent = 0
        self._reason: MarketplaceError | None = None

    def outcomes(self, work: Callable[[T], R], rows: Sequence[T]) -> list[R | MarketplaceError]:
        found: dict[int, R | MarketplaceError] = {}
        waiting = iter(enumerate(rows))
        running: dict[Future[R | MarketplaceError], int] = {}
        with ThreadPoolExecutor(min(self._concurrency.most, max(1, len(rows)))) as pool:
            while True:
                while len(running) < self._concurrency.limit and self._reason is None:
                    index, row = next(waiting, (None, None))
                    if index is None:
                        break
                    running[pool.submit(copy_context().run, _attempt, work, row)] = index  # type: ignore[arg-type]
                if not running:
                    break
                next_beat = self._beaten_at + self._beat_seconds
                timeout = max(0.0, next_beat - time.monotonic()) if self._beat else None
                done, _ = wait(running, timeout=timeout, return_when=FIRST_COMPLETED)
                for future in done:
                    outcome = found[running.pop(future)] = future.result()
                    self._silent = self._silent + 1 if isinstance(outcome, UnreachableError) else 0
                    if isinstance(outcome, CredentialsError) or (
                        isinstance(outcome, UnreachableError) and self._silent >= SILENT
                    ):
                        self._reason = outcome
                if self._beat and time.monotonic() >= next_beat:
                    self._beat()
                    self._beaten_at = time.monotonic()
        return [found[index] if index in found else self._not_asked() for index in range(len(rows))]

    def _not_asked(self) -> MarketplaceError:
        assert self._reason is not None
        return type(self._reason)(str(self._reason))


def _attempt(work: Callable[[T], R], row: T) -> R | MarketplaceError:
    try:
        return work(row)
    except MarketplaceError as error:
        return error
