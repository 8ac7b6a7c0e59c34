"""How many calls an account may make: a token bucket whose rate learns what the marketplace lets through. Pure.

One token is one call. A call that finds none gets a place in the near future, so that callers go in the order in
which they came. The rate doubles each second while callers have to wait, until the first refusal ("Rate exceeded")
ever; from then on it grows by even steps up to what was refused last, and is cut by a share at each burst of
refusals. (Slow start, additive increase and multiplicative decrease, as in TCP: Jacobson, "Congestion avoidance and
control", SIGCOMM 1988.)

`hits/mturk/shared.py` holds the same rules as a script that Redis runs for all processes of an account. A test
compares the two step by step.
"""

from __future__ import annotations

from dataclasses import dataclass

CAPACITY = 20.0
FLOOR = 0.5
# Seconds between two changes of the rate in one direction: a burst of refusals is one refusal.
PAUSE = 1.0
FIRST_CUT = 0.35
CUT = 0.8
# From the third cut in a row on, none more than so many seconds after the one before: the rate is far off.
IN_A_ROW = 2.5
DEEP_CUT = 0.5
# A step of growth as a share of the rate that was too much last: back there in about eight seconds.
STEP = 0.025
LEAST_STEP = 0.05
# Longer than this nobody is promised a token: the rate may change meanwhile. In seconds.
HORIZON = 0.3


@dataclass
class Bucket:
    """All times in seconds of one clock, the rate in calls a second. `limit`: the rate that was too much last, or 0."""

    rate: float
    ceiling: float
    capacity: float = CAPACITY
    floor: float = FLOOR
    limit: float = 0.0
    tokens: float = 0.0
    at: float | None = None
    grown_at: float = 0.0
    cut_at: float = 0.0
    cuts: int = 0
    wanted: bool = False

    def take(self, now: float) -> tuple[bool, float]:
        """Whether a token was given, and the seconds until it may be used or until it is worth asking again."""
        self._fill(now)
        if self.wanted and now - self.grown_at >= PAUSE and now - self.cut_at >= PAUSE:
            self.rate = min(self.ceiling, self.rate + self._step())
            self.grown_at, self.wanted = now, False
        wait = max(0.0, (1.0 - self.tokens) / self.rate)
        self.wanted = self.wanted or wait > 0
        if wait > HORIZON:
            return False, wait
        self.tokens -= 1.0
        return True, wait

    def _step(self) -> float:
        if not self.limit:
            return self.rate
        # Beyond what was too much once, the refusal had another reason: twice as far beyond it each second.
        return max(LEAST_STEP, STEP * self.limit, self.rate - self.limit)

    def throttled(self, now: float) -> bool:
        """The marketplace refused a call: its own bucket is empty. True when that lowered the rate."""
        self._fill(now)
        self.tokens = min(self.tokens, 0.0)
        if now - self.cut_at < PAUSE:
            return False
        self.cuts = self.cuts + 1 if now - self.cut_at < IN_A_ROW else 1
        share = (DEEP_CUT if self.cuts > 2 else CUT) if self.limit else FIRST_CUT
        self.limit = self.rate
        self.rate = max(self.floor, self.rate * share)
        self.cut_at, self.wanted = now, False
        return True

    def _fill(self, now: float) -> None:
        if self.at is None:
            # The first look at the clock: full, and nothing was learned in the time before.
            self.tokens, self.grown_at, self.cut_at, self.at = self.capacity, now, now - PAUSE, now
        self.tokens = min(self.capacity, self.tokens + max(0.0, now - self.at) * self.rate)
        self.at = max(self.at, now)
