"""The mean or the median of numbers, with the interval that the answers to one item leave.

Of the mean it is Student's 95 % interval. Of the median it is bounded by two of the answers (order statistics, binomial
with a half); where five answers or fewer cannot bound it with 95 %, it goes from the least to the greatest of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from hits.stats.aggregation.results import Aggregated, by_worker
from hits.stats.answers import Answers, Floats, Numbers

LEVEL = 0.95


def middle(answers: Answers, which: Literal["mean", "median"], *, order: Sequence[Any] = ()) -> Aggregated:
    """With an `order` its values have their places as numbers, and the median is a value of it: the lower of two.

    There is no confidence (NaN), but an interval: (low, high) an item, NaN with one answer. A worker's estimate is how
    far their answers lie from the value, on average. Raises AnswersError for a value that is no number, or not in the
    order.
    """
    scale = answers.places(order) if order else answers.numbers()
    said, n = scale[answers.value], answers.per_item()
    arranged = said[np.lexsort((said, answers.item))]
    starts = np.cumsum(n) - n
    found, bounds = (_means if which == "mean" else _medians)(arranged, starts, n)
    if order:
        found = arranged[starts + (n - 1) // 2] if which == "median" else found
    bounds[n < 2] = np.nan
    values = [order[int(at)] for at in found] if order and which == "median" else found.tolist()
    return Aggregated(
        which,
        tuple(values),
        np.full(len(n), np.nan),
        by_worker(answers, np.abs(said - found[answers.item])),
        "mean distance from the value",
        intervals=bounds,
    )


def _means(arranged: Floats, starts: Numbers, n: Numbers) -> tuple[Floats, Floats]:
    from scipy.stats import t

    if not len(n):
        return np.zeros(0), np.zeros((0, 2))
    means = np.add.reduceat(arranged, starts) / n
    squares = np.add.reduceat((arranged - np.repeat(means, n)) ** 2, starts)
    free = np.maximum(n - 1, 1)
    half = t.ppf((1 + LEVEL) / 2, free) * np.sqrt(squares / free / n)
    return means, np.stack([means - half, means + half], axis=1)


def _medians(arranged: Floats, starts: Numbers, n: Numbers) -> tuple[Floats, Floats]:
    from scipy.stats import binom

    if not len(n):
        return np.zeros(0), np.zeros((0, 2))
    medians = (arranged[starts + (n - 1) // 2] + arranged[starts + n // 2]) / 2
    # The greatest place that the median lies below with at most (1 - LEVEL) / 2, counted from 0.
    below = binom.ppf((1 - LEVEL) / 2, n, 0.5).astype(np.int64)
    below = np.where(binom.cdf(below, n, 0.5) <= (1 - LEVEL) / 2, below + 1, below)
    place = np.maximum(below - 1, 0)
    return medians, np.stack([arranged[starts + place], arranged[starts + n - 1 - place]], axis=1)
