"""Scores of systems over items, with intervals, and whether two systems differ.

A score is the sum of one number an item divided by the sum of another: for accuracy, right answers by 1 each; for the
F1 of spans, twice the common ones by those of both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hits.stats.intervals import wilson

RESAMPLES, SWAPS = 1000, 9999
# Of many items fewer swaps are drawn: whoever scores a system waits for it, and for each system it is compared with.
MOST_DRAWN, FEWEST_SWAPS = 20_000_000, 999
# Numbers that are held at once.
_AT_ONCE = 4_000_000
_ROUNDING = 1e-12
# Numerators and denominators.
Sums = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Compared:
    """What one system answered to n items, compared with the right answers.

    `measures` are (n numerators, n denominators) by name; systems are told apart by the first. `parts` are, by the
    name of a division such as the type of question, the part of each item, empty where it is in none.
    """

    measures: Mapping[str, Sums]
    parts: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Score:
    """0..1, with its 95 % interval, over `n` items; `division` and `part` are empty for all items together."""

    measure: str
    division: str
    part: str
    n: int
    value: float
    low: float
    high: float


def means(values: Sequence[float]) -> Sums:
    """The measure that is the mean of one value an item."""
    return np.asarray(values, float), np.ones(len(values))


def scores(compared: Compared, seed: int) -> list[Score]:
    """Of all items, then of each part, by measure. Intervals are percentiles of a bootstrap over items
    (B. Efron 1979, Bootstrap methods: another look at the jackknife, Annals of Statistics 7(1)); of a share of right
    answers that is 0 or 1, which every resample repeats, Wilson's.
    """
    rows = []
    for measure, sums in compared.measures.items():
        rows.append(_score(sums, seed, measure))
        for division, of in compared.parts.items():
            kinds = np.asarray(of)
            for part in sorted(set(of) - {""}):
                within = kinds == part
                rows.append(_score((sums[0][within], sums[1][within]), seed, measure, division, part))
    return rows


def _score(sums: Sums, seed: int, measure: str, division: str = "", part: str = "") -> Score:
    n = len(sums[0])
    told, draw = np.stack(sums, 1), np.random.default_rng(seed)
    again = [draw.multinomial(n, np.full(n, 1 / n), size) @ told for size in _sizes(RESAMPLES, n)]
    value = float(_ratio(*told.sum(0)))
    low, high = map(float, np.percentile(_ratio(*np.concatenate(again).T), (2.5, 97.5)))
    if value in (0.0, 1.0) and (sums[1] == 1).all():
        low, high = wilson(int(value) * n, n)
    return Score(measure, division, part, n, value, low, high)


def _sizes(draws: int, n: int) -> Iterator[int]:
    """In how many parts so many draws of n numbers are held."""
    size = max(1, _AT_ONCE // n)
    yield from (min(size, draws - done) for done in range(0, draws, size))


def difference(first: Sums, second: Sums, seed: int) -> tuple[float, float]:
    """(score of `first` - score of `second`, p) of two systems that answered the same items.

    p is that of a two-sided approximate randomisation test: how often a difference as large comes about when the two
    answers to each item are swapped at random (E. W. Noreen 1989; A. Yeh 2000, More accurate tests for the statistical
    significance of result differences, COLING). Raises ValueError for different numbers of items.
    """
    if len(first[0]) != len(second[0]):
        raise ValueError(f"{len(first[0]):,} items cannot be compared with {len(second[0]):,}")
    ours, theirs = np.stack(first, 1), np.stack(second, 1)
    draw, n = np.random.default_rng(seed), len(ours)
    swaps = max(FEWEST_SWAPS, min(SWAPS, MOST_DRAWN // n))
    swapped = np.concatenate(
        [draw.integers(0, 2, (size, n), np.int8).astype(float) @ (theirs - ours) for size in _sizes(swaps, n)]
    )
    observed = float(_ratio(*ours.sum(0)) - _ratio(*theirs.sum(0)))
    by = _ratio(*(ours.sum(0) + swapped).T) - _ratio(*(theirs.sum(0) - swapped).T)
    as_large = int((abs(by) >= abs(observed) - _ROUNDING).sum())
    return observed, (as_large + 1) / (swaps + 1)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """0 where nothing is counted."""
    found: np.ndarray = np.divide(above, below, out=np.zeros(np.shape(below)), where=below != 0)
    return found
