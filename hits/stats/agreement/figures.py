"""A figure with its interval, or the reason why there is none; and how the interval is found.

Items are drawn again with replacement, as many as there are, and the figure is computed of each draw; the middle 95 %
of these values are the interval (B. Efron 1979, Bootstrap methods: another look at the jackknife). A figure is a
function of how often each item is drawn: so a draw costs a product of matrices, and no answer is read twice. Items
with the same counts are one row, drawn as often as all of them together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hits.stats.answers import Floats

RESAMPLES, FEWEST_RESAMPLES = 1000, 200
# Rows times draws: with more rows fewer draws are made, at least FEWEST_RESAMPLES.
MOST_DRAWN = 20_000_000
# Numbers in memory at a time.
CELLS = 4_000_000
LEVEL = 0.95

Statistic = Callable[[Floats], Floats]
"""From weights (draws x rows) to a value of each draw; NaN where it is not defined."""


@dataclass(frozen=True)
class Figure:
    """`value` with its 95 % interval; None, and `why` in words, where it is not defined.

    `n` says over how many items; the interval is None with one item only.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def undefined(why: str, n: int = 0) -> Figure:
    return Figure(None, n=n, why=why)


def figure(statistic: Statistic, times: Floats, *, width: int, seed: int, why: str = "one value only") -> Figure:
    """The statistic of rows that stand for `times` items each. `width` is how many numbers a draw needs at its widest.

    `why` is the reason where the statistic is not defined.
    """
    value = float(statistic(times[np.newaxis, :])[0])
    n = int(times.sum())
    if not np.isfinite(value):
        return undefined(why, n)
    if n < 2:
        return Figure(value, n=n)
    drawn = _drawn(statistic, times, max(width, len(times)), seed)
    drawn = drawn[np.isfinite(drawn)]
    # Where a draw often holds one value only, the middle of the others would be too narrow.
    if len(drawn) < FEWEST_RESAMPLES // 2:
        return Figure(value, n=n)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Figure(value, float(low), float(high), n)


def _drawn(statistic: Statistic, times: Floats, width: int, seed: int) -> Floats:
    draw, n = np.random.default_rng(seed), int(times.sum())
    count = int(np.clip(MOST_DRAWN // len(times), FEWEST_RESAMPLES, RESAMPLES))
    at_once = max(1, CELLS // width)
    parts = [
        statistic(draw.multinomial(n, times / n, size=min(at_once, count - at)).astype(float))
        for at in range(0, count, at_once)
    ]
    return np.concatenate(parts)
