"""Turns at the marketplace, shared by all processes and machines of one account.

The bucket is in Redis. While Redis does not answer, each process keeps a bucket of its own, at its share of the rate
that was known last. Nothing here raises, and no wait is longer than the caller allows.
"""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from hits.mturk.bucket import CAPACITY, FLOOR, HORIZON, Bucket
from hits.mturk.shared import Shared, Turn


@dataclass(frozen=True)
class Pace:
    """`rate`: calls a second of the whole account. `shared`: does Redis answer, so that all processes keep to it?"""

    rate: float
    throttled_at: datetime | None
    shared: bool


class Limiter:
    """`start` and `ceiling` in calls a second. Safe to share between threads."""

    def __init__(self, shared: Shared, *, start: float, ceiling: float) -> None:
        self._shared = shared
        self._known = Bucket(rate=start, ceiling=ceiling)
        self._users = 2
        self._own: Bucket | None = None
        self._throttled_at: datetime | None = None
        self._lock = threading.Lock()

    def wait_for_turn(self, latest: float) -> float | None:
        """Sleeps until a call may be made; the account's rate then, or None when `latest` (monotonic) comes first."""
        while True:
            granted, wait, rate = self._take()
            now = time.monotonic()
            if now + wait > latest:
                return None
            if granted:
                time.sleep(wait)
                return rate
            # Whoever got no promise asks again shortly before there should be a token, not all at one moment.
            time.sleep(max(0.02, wait - HORIZON * random.random()))

    def throttled(self) -> None:
        """The marketplace refused a call for its rate."""
        self._throttled_at = datetime.now(UTC)
        turn = self._shared.throttled(self._known)
        with self._lock:
            if turn:
                self._learn(turn)
            else:
                self._own_bucket().throttled(time.monotonic())

    def pace(self) -> Pace:
        state = self._shared.state()
        if state is None:
            with self._lock:
                rate = self._own.rate * self._users if self._own else self._known.rate
            return Pace(rate, self._throttled_at, shared=False)
        moment = state.get("throttled_at")
        throttled_at = datetime.fromtimestamp(float(moment), UTC) if moment else None
        return Pace(float(state.get("rate", self._known.rate)), throttled_at, shared=True)

    def _take(self) -> tuple[bool, float, float]:
        turn = self._shared.take(self._known)
        with self._lock:
            if turn:
                self._learn(turn)
                return turn.granted, turn.wait, turn.rate
            own = self._own_bucket()
            granted, wait = own.take(time.monotonic())
            return granted, wait, own.rate * self._users

    def _learn(self, turn: Turn) -> None:
        self._known.rate, self._known.limit = turn.rate, turn.limit
        self._users = max(2, turn.users)
        self._own = None

    def _own_bucket(self) -> Bucket:
        if self._own is None:
            share = 1 / self._users
            self._own = Bucket(
                rate=max(FLOOR, self._known.rate * share),
                ceiling=max(FLOOR, self._known.ceiling * share),
                capacity=max(1.0, CAPACITY * share),
                limit=self._known.limit * share,
            )
        return self._own
