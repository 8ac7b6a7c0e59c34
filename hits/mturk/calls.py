"""Figures of all calls: how many, how they ended and how long they took, by operation.

Kept in Redis for eight days, in hashes of an hour and, for the last hour, of ten minutes; their sums are in one hash
for good. When Redis is lost, figures are lost and calls are not.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum

from hits.mturk.shared import Shared

SLOT, HOUR = 600, 3600
SLOT_LIVES, HOUR_LIVES = 2 * HOUR, 8 * 24 * HOUR
# Sums that only grow, for programs that watch. Nobody calls for so long, and they begin anew.
EVER, EVER_LIVES = "calls:for-good", 400 * 24 * HOUR
# Upper ends of the steps of the histogram, in milliseconds; what took longer is in one more.
STEPS = (2, 5, 10, 15, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 2500, 5000, 10_000, 20_000, 60_000)


class Ending(Enum):
    """How one attempt ended; the value is the name of its count."""

    DONE = "done"
    THROTTLED = "throttled"
    REFUSED = "refused"
    FAILED = "failed"


class Window(Enum):
    """How far back figures reach; the value stands in addresses."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"

    @property
    def length(self) -> timedelta:
        return {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7)}[self.value]


@dataclass
class Figures:
    """Attempts on the wire of one operation, or of several together."""

    operation: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    steps: Counter[int] = field(default_factory=Counter)

    @property
    def calls(self) -> int:
        return sum(self.counts[ending.value] for ending in Ending)

    @property
    def retries(self) -> int:
        """Attempts that were not the first of their call."""
        return self.counts["retries"]

    @property
    def throttled(self) -> int:
        return self.counts[Ending.THROTTLED.value]

    @property
    def refused(self) -> int:
        return self.counts[Ending.REFUSED.value]

    @property
    def failed(self) -> int:
        """No answer, or a passing fault."""
        return self.counts[Ending.FAILED.value]

    @property
    def milliseconds(self) -> int:
        """Of all attempts together."""
        return self.counts["ms"]

    @property
    def median_ms(self) -> float | None:
        return self.quantile_ms(0.5)

    @property
    def p95_ms(self) -> float | None:
        return self.quantile_ms(0.95)

    def quantile_ms(self, share: float) -> float | None:
        """Estimated from the histogram, along a straight line within a step; None without calls.

        Throttled attempts are left out: their answers are quick and say nothing about the work.
        """
        total = sum(self.steps.values())
        if not total:
            return None
        wanted, before = share * total, 0
        for step in sorted(self.steps):
            amount = self.steps[step]
            if amount and before + amount >= wanted:
                low = STEPS[step - 1] if step else 0
                high = STEPS[step] if step < len(STEPS) else 2 * STEPS[-1]
                return low + (high - low) * (wanted - before) / amount
            before += amount
        raise AssertionError("the counts of the steps add up to their total")

    def add(self, other: Figures) -> None:
        self.counts += other.counts
        self.steps += other.steps


@dataclass(frozen=True)
class Moment:
    """One point of a curve: `calls` in an interval of time that begins at `at`, and the account's rate in it."""

    at: datetime
    calls: int
    rate: float | None


@dataclass(frozen=True)
class Report:
    """`operations` by falling number of calls. `known` is False when Redis does not answer."""

    window: Window
    since: datetime
    operations: tuple[Figures, ...]
    total: Figures
    timeline: tuple[Moment, ...]
    known: bool


class Calls:
    """The figures of one account."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared

    def count(self, operation: str, ending: Ending, *, seconds: float, again: bool, rate: float) -> None:
        """One attempt; `again`: it was not the first of its call; `rate`: the account's calls a second then."""
        now = int(time.time())
        milliseconds = round(1000 * seconds)
        added: dict[str, int | str] = {f"{operation}:{ending.value}": 1, f"{operation}:ms": milliseconds}
        if again:
            added[f"{operation}:retries"] = 1
        if ending is not Ending.THROTTLED:
            added[f"{operation}:<{bisect_left(STEPS, milliseconds)}"] = 1
        minute = now // 60 * 60
        added |= {f"at:{minute}": 1, f"rate:{minute}=": f"{rate:.2f}"}
        self._shared.count({_slot(now): SLOT_LIVES, _hour(now): HOUR_LIVES, EVER: EVER_LIVES}, added)

    def ever(self) -> list[Figures]:
        """The figures since they were first counted, which only grow; nothing while Redis does not answer."""
        return _by_operation(self._shared.counted([EVER]) or [])

    def report(self, window: Window, now: datetime | None = None) -> Report:
        """The figures since the window began, to the full ten minutes or the full hour before it."""
        until = int((now or datetime.now(UTC)).timestamp())
        size, name = (SLOT, _slot) if window is Window.HOUR else (HOUR, _hour)
        first = (until - int(window.length.total_seconds())) // size * size
        if window is not Window.HOUR:
            first += size
        found = self._shared.counted([name(start) for start in range(first, until + 1, size)])
        operations = _by_operation(found or [])
        total = Figures()
        for figures in operations:
            total.add(figures)
        timeline = _timeline(found or [], first, until, 60 if window is Window.HOUR else HOUR)
        since = datetime.fromtimestamp(first, UTC)
        return Report(window, since, tuple(operations), total, tuple(timeline), known=found is not None)


def _slot(moment: int) -> str:
    return f"calls:slot:{moment // SLOT}"


def _hour(moment: int) -> str:
    return f"calls:hour:{moment // HOUR}"


def _by_operation(found: Iterable[Mapping[str, str]]) -> list[Figures]:
    known: dict[str, Figures] = {}
    for fields in found:
        for name, value in fields.items():
            operation, _, what = name.partition(":")
            if operation in ("at", "rate"):
                continue
            figures = known.setdefault(operation, Figures(operation))
            if what.startswith("<"):
                figures.steps[int(what[1:])] += int(value)
            else:
                figures.counts[what] += int(value)
    return sorted(known.values(), key=lambda figures: (-figures.calls, figures.operation))


def _timeline(found: Sequence[Mapping[str, str]], first: int, until: int, step: int) -> list[Moment]:
    calls: Counter[int] = Counter()
    rates: dict[int, float] = {}
    for fields in found:
        for name, value in sorted(fields.items()):
            what, _, rest = name.partition(":")
            if what == "at":
                calls[int(rest) // step * step] += int(value)
            elif what == "rate":
                # Of the minutes of an hour, the last counts.
                rates[int(rest.rstrip("=")) // step * step] = float(value)
    return [Moment(datetime.fromtimestamp(at, UTC), calls[at], rates.get(at)) for at in range(first, until + 1, step)]
