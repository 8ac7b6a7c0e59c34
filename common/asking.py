"""Asking a service that may hang: whoever asks waits a bounded time, and one that hangs is asked once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NoAnswer
from typing import Generic, TypeVar

from django.db import connections

T = TypeVar("T")


class Asked(Generic[T]):
    """One question in a thread of its own, with a connection of the database of its own."""

    def __init__(self, question: Callable[[], T]) -> None:
        self._question = question
        self._lock = threading.Lock()
        self._running: Future[T] | None = None

    def begin(self) -> Future[T]:
        """The answer that comes; that of the thread before, as long as it has none."""
        with self._lock:
            if self._running is None or self._running.done():
                self._running = Future()
                threading.Thread(target=self._run, args=(self._running,), daemon=True).start()
            return self._running

    def _run(self, outcome: Future[T]) -> None:
        try:
            outcome.set_result(self._question())
        except Exception as error:
            outcome.set_exception(error)
        finally:
            connections.close_all()


def all_of(asked: Mapping[str, Asked[T]], seconds: float) -> dict[str, T | Exception]:
    """What each said within so many seconds of all together, or why it did not."""
    running = {name: each.begin() for name, each in asked.items()}
    end = time.monotonic() + seconds
    said: dict[str, T | Exception] = {}
    for name, each in running.items():
        try:
            said[name] = each.result(max(0.0, end - time.monotonic()))
        except NoAnswer:
            said[name] = TimeoutError(f"does not answer within {seconds:g} seconds")
        except Exception as error:
            said[name] = error
    return said
