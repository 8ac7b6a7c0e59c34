"""How far answers follow a suggestion that is in sight (anchoring), from answers given with and without it.

Each answer is drawn by itself into one of two arms: the page showed the suggestion, or it did not. What is compared is
the share of answers that say the same as the suggestion.

The difference of the two shares has Newcombe's interval (R. G. Newcombe, 1998, Interval estimation for the difference
between independent proportions, Statistics in Medicine 17, 873-890, method 10), made of Wilson's of each share. It is
that of these workers and items: answers of one worker are alike, but the draw is made answer by answer, and then no
clustering belongs into the error (A. Abadie, S. Athey, G. Imbens, J. Wooldridge, 2023, When should you adjust standard
errors for clustering?, Quarterly Journal of Economics 138, 1-35).

Other workers may follow more, or less. What that adds is seen where whole workers are drawn with replacement (cluster
bootstrap; C. A. Field, A. H. Welsh, 2007, Bootstrapping clustered data, JRSS B 69, 369-390): `over_workers`, percentile
intervals. Something is claimed only where both leave 0 out.

`followed` is the share of doubtful answers that follow: of the answers that would disagree with a suggestion out of
sight, the share that agrees since it is in sight, (p1 - p0) / (1 - p0). Answers that are sure of something else are
among those that would disagree, so of the doubtful ones alone it is at least that; where the suggestion is known to be
right, few of them are. It is 1 - q1 / q0 with the shares q that disagree, and its interval that of a ratio by the
method of variance estimates recovery from Wilson's (A. Donner, G. Y. Zou, 2012, Closed-form confidence intervals for
functions of the normal mean and standard deviation, Statistical Methods in Medical Research 21, 347-359).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from hits.stats.intervals import wilson

# Of fewer, drawing them anew says little of others.
FEWEST_WORKERS = 10
DRAWS = 2000
# Drawn together, so that memory does not grow with the draws.
_AT_ONCE = 50
# Of the draws, so many may give no figure.
_MOST_EMPTY = 0.05


@dataclass(frozen=True)
class Arm:
    """`same` of `of` answers say what the suggestion says."""

    same: int = 0
    of: int = 0

    @property
    def share(self) -> float | None:
        return self.same / self.of if self.of else None

    def __add__(self, other: Arm) -> Arm:
        return Arm(self.same + other.same, self.of + other.of)


@dataclass(frozen=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float

    def has(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class OverWorkers:
    """The intervals if other workers had answered; `followed` is None where too few answers disagree."""

    workers: int
    difference: Interval
    followed: Interval | None


@dataclass(frozen=True)
class Comparison:
    """Both arms, and what they say. A figure is None where an arm has no answers, and `followed` also where every
    answer without the suggestion agrees with it.
    """

    shown: Arm
    hidden: Arm
    difference: float | None = None
    difference_interval: Interval | None = None
    followed: float | None = None
    followed_interval: Interval | None = None
    over_workers: OverWorkers | None = None

    @property
    def is_followed(self) -> bool:
        """Whether the answers show that suggestions are followed: no interval has 0, and all lie above it."""
        intervals = [self.difference_interval, self.over_workers.difference if self.over_workers else None]
        known = [one for one in intervals if one]
        return bool(known) and all(one.low > 0 for one in known)

    @property
    def is_avoided(self) -> bool:
        """Whether they show that suggestions in sight make answers disagree."""
        intervals = [self.difference_interval, self.over_workers.difference if self.over_workers else None]
        known = [one for one in intervals if one]
        return bool(known) and all(one.high < 0 for one in known)


def compare(workers: Iterable[tuple[Arm, Arm]], seed: int) -> Comparison:
    """Of each worker's answers, (with the suggestion in sight, without). The same seed gives the same intervals."""
    rows = [(shown, hidden) for shown, hidden in workers if shown.of or hidden.of]
    shown = sum((row[0] for row in rows), Arm())
    hidden = sum((row[1] for row in rows), Arm())
    if not shown.of or not hidden.of:
        return Comparison(shown, hidden)
    low, high = difference_interval(shown, hidden)
    p1, p0 = shown.same / shown.of, hidden.same / hidden.of
    ratio = followed_interval(shown, hidden)
    return Comparison(
        shown,
        hidden,
        p1 - p0,
        Interval(low, high),
        (p1 - p0) / (1 - p0) if ratio else None,
        Interval(*ratio) if ratio else None,
        _over_workers(rows, seed),
    )


def difference_interval(shown: Arm, hidden: Arm) -> tuple[float, float]:
    """Newcombe's, of the share that agrees among the shown less that among the hidden. Both have answers."""
    p1, p0 = shown.same / shown.of, hidden.same / hidden.of
    low1, high1 = wilson(shown.same, shown.of)
    low0, high0 = wilson(hidden.same, hidden.of)
    low = p1 - p0 - sqrt((p1 - low1) ** 2 + (high0 - p0) ** 2)
    high = p1 - p0 + sqrt((high1 - p1) ** 2 + (p0 - low0) ** 2)
    return low, high


def followed_interval(shown: Arm, hidden: Arm) -> tuple[float, float] | None:
    """Donner and Zou's, of 1 - q1 / q0; None where no hidden answer disagrees."""
    q1, q0 = 1 - shown.same / shown.of, 1 - hidden.same / hidden.of
    if not q0:
        return None
    low1, high1 = wilson(shown.of - shown.same, shown.of)
    low0, high0 = wilson(hidden.of - hidden.same, hidden.of)
    both = q1 * q0
    # The bounds of the ratio, written so that nothing small is divided by: l(2q - l) of one and u(2q - u) of the other.
    least, most = low1 * (2 * q1 - low1), high1 * (2 * q1 - high1)
    under, over = low0 * (2 * q0 - low0), high0 * (2 * q0 - high0)
    low_ratio = least / (both + sqrt(max(0.0, both * both - least * over))) if least else 0.0
    high_ratio = (both + sqrt(max(0.0, both * both - most * under))) / under
    return 1 - high_ratio, 1 - low_ratio


def _over_workers(rows: list[tuple[Arm, Arm]], seed: int) -> OverWorkers | None:
    """None for too few workers, and where too many of the draws leave an arm empty."""
    count = len(rows)
    if count < FEWEST_WORKERS:
        return None
    counts = np.array([[a.same, a.of, b.same, b.of] for a, b in rows], dtype=np.float64)
    draw = np.random.default_rng(seed)
    sums = np.concatenate(
        [
            draw.multinomial(count, np.full(count, 1 / count), size=min(_AT_ONCE, DRAWS - at)) @ counts
            for at in range(0, DRAWS, _AT_ONCE)
        ]
    )
    there = sums[(sums[:, 1] > 0) & (sums[:, 3] > 0)]
    if len(there) < DRAWS * (1 - _MOST_EMPTY):
        return None
    p1, p0 = there[:, 0] / there[:, 1], there[:, 2] / there[:, 3]
    doubtful = p0 < 1
    enough = doubtful.sum() >= DRAWS * (1 - _MOST_EMPTY)
    followed = _percentiles((p1 - p0)[doubtful] / (1 - p0[doubtful])) if enough else None
    return OverWorkers(count, _percentiles(p1 - p0), followed)


def _percentiles(values: np.ndarray) -> Interval:
    low, high = np.percentile(values, [2.5, 97.5])
    return Interval(float(low), float(high))
