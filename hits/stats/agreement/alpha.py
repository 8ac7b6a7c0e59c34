"""Krippendorff's alpha: 1 for perfect agreement, 0 where answers differ as much as any two answers to any items.

alpha = 1 - (n - 1) * sum of within(item) / among(all), where `within` adds the distances of all ordered pairs of
answers to one item, divided by the item's answers less one, `among` adds those of all pairs of the n answers, and items
with one answer are left out. Source: K. Krippendorff (2011), Computing Krippendorff's alpha-reliability. Distances:

* nominal: 0 for the same value, 1 for another one;
* interval: the squared difference;
* ordinal: the squared number of answers that lie between the two, each of them counted half;
* set: MASI, 1 - Jaccard * monotonicity (R. Passonneau 2006, Measuring agreement on set-valued items), as it is;
* span: 1 - F1 of the marked spans, where those of one label count as matched that share a character. Two answers
  without any span are the same. As chance goes, spans of different texts are held against one another by their
  places.

For sets and spans chance is that of `MOST_COMPARED` answers, drawn by the seed, where more of them are different.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, Literal

import numpy as np

from hits.stats.agreement.counts import Counts, counts_of
from hits.stats.agreement.figures import Figure, figure, undefined
from hits.stats.agreement.kappas import NO_PAIR
from hits.stats.agreement.overlap import span_distance
from hits.stats.answers import Answers, Floats

Level = Literal["nominal", "ordinal", "interval", "set", "span"]
Distance = Callable[[Any, Any], float]
# Two of them make a hundred thousand pairs.
MOST_COMPARED = 450
# Distances that are kept while a unit is read.
MOST_REMEMBERED = 200_000
# To one item; from here on a value is compared once, whoever gave it.
MANY_ANSWERS = 100


def krippendorff_alpha(answers: Answers, level: Level = "nominal", *, order: Sequence[Any] = (), seed: int) -> Figure:
    """`order` holds the values of an ordinal scale from the least to the greatest; without it they are numbers.

    Raises AnswersError for a value that cannot be compared at this level.
    """
    if level in ("set", "span"):
        return _by_distance(answers, DISTANCES[level], seed)
    # What cannot be compared is refused even where no two answers are there to compare.
    scale = np.zeros(0)
    if level != "nominal":
        scale = answers.numbers() if level == "interval" else answers.places(order)
    counts = counts_of(answers)
    if not len(counts.times):
        return undefined(NO_PAIR)
    if level == "nominal":
        return figure(_nominal(counts), counts.times, width=counts.table.shape[1], seed=seed)
    if level == "interval":
        return figure(_interval(counts, scale), counts.times, width=1, seed=seed)
    by_place = np.argsort(scale, kind="stable")
    ordered = Counts(counts.table[:, by_place], counts.answers, counts.times)
    return figure(_ordinal(ordered), counts.times, width=max(ordered.table.shape), seed=seed)


def _alpha(within: Floats, among: Floats, n: Floats) -> Floats:
    some = among > 1e-12 * np.maximum(n, 1)
    return np.where(some, 1 - (n - 1) * within / np.where(some, among, 1), np.nan)


def _nominal(counts: Counts) -> Callable[[Floats], Floats]:
    differing = (counts.pairs - counts.equal_pairs) / (counts.answers - 1)

    def alpha(weights: Floats) -> Floats:
        values = weights @ counts.table
        n = values.sum(axis=1)
        return _alpha(weights @ differing, n**2 - (values**2).sum(axis=1), n)

    return alpha


def _interval(counts: Counts, numbers: Floats) -> Callable[[Floats], Floats]:
    # Around their middle and within 1: large numbers with small differences lose no digits.
    centred = numbers - counts.times @ (counts.table @ numbers) / (counts.times @ counts.answers)
    centred = centred / (np.abs(centred).max(initial=0) or 1)
    first, second = counts.table @ centred, counts.table @ centred**2
    within = _squares(counts.answers, first, second) / (counts.answers - 1)

    def alpha(weights: Floats) -> Floats:
        n = weights @ counts.answers
        return _alpha(weights @ within, _squares(n, weights @ first, weights @ second), n)

    return alpha


def _squares(n: Floats, first: Floats, second: Floats) -> Floats:
    """The squared differences of all ordered pairs of n numbers, from their sum and that of their squares."""
    return np.maximum(2 * (n * second - first**2), 0)


def _ordinal(counts: Counts) -> Callable[[Floats], Floats]:
    """Squared differences of ranks, which are those of each draw: half of a value's own answers lie below it."""

    def alpha(weights: Floats) -> Floats:
        values = weights @ counts.table
        n = values.sum(axis=1)
        ranks = (np.cumsum(values, axis=1) - values / 2) / n[:, np.newaxis] - 0.5
        first, second = counts.table @ ranks.T, counts.table @ (ranks**2).T
        m = counts.answers[:, np.newaxis]
        within = (weights.T * _squares(m, first, second) / (m - 1)).sum(axis=0)
        among = _squares(n, (values * ranks).sum(axis=1), (values * ranks**2).sum(axis=1))
        return _alpha(within, among, n)

    return alpha


# Values with a distance of their own


def masi_distance(one: Collection[Hashable], other: Collection[Hashable]) -> float:
    """Monotonicity is 1 for the same set, 2/3 where one holds the other, 1/3 where they share something, else 0."""
    mine, theirs = frozenset(one), frozenset(other)
    if mine == theirs:
        return 0.0
    shared = len(mine & theirs)
    if not shared:
        return 1.0
    monotonicity = 2 / 3 if mine <= theirs or theirs <= mine else 1 / 3
    return 1 - shared / len(mine | theirs) * monotonicity


DISTANCES: dict[str, Distance] = {"set": masi_distance, "span": span_distance}


def item_distances(answers: Answers, distance: Distance) -> tuple[Floats, Floats]:
    """(of each answer to the other ones of its item, summed; of each item over its unordered pairs, summed)."""
    by_answer, by_item = np.zeros(len(answers)), np.zeros(len(answers.items))
    known = lru_cache(MOST_REMEMBERED)(lambda one, other: distance(answers.values[one], answers.values[other]))
    starts = np.flatnonzero(np.diff(answers.item, prepend=-1))
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(answers)], strict=True):
        summed = _summed if end - start > MANY_ANSWERS else _summed_by_pair
        by_answer[start:end] = summed(answers.value[start:end], known)
        by_item[answers.item[start]] = by_answer[start:end].sum() / 2
    return by_answer, by_item


def _summed_by_pair(values: Any, known: Callable[[int, int], float]) -> Floats:
    found, given = np.zeros(len(values)), values.tolist()
    for one, other in combinations(range(len(given)), 2):
        apart = known(given[one], given[other])
        found[one] += apart
        found[other] += apart
    return found


def _summed(values: Any, known: Callable[[int, int], float]) -> Floats:
    """The same of many answers to one item: answers of one value are compared once. Of more than `MOST_COMPARED` values
    that many, evenly spaced, stand for all.
    """
    different, place, given = np.unique(values, return_inverse=True, return_counts=True)
    kept = np.unique(np.linspace(0, len(different) - 1, min(len(different), MOST_COMPARED)).astype(int))
    weights = given[kept] * (given.sum() / given[kept].sum())
    compared = different[kept].tolist()
    # An answer is in no pair with itself.
    found = [
        np.array([known(one, other) for other in compared]) @ weights - known(one, one) for one in different.tolist()
    ]
    return np.array(found)[place]


def _by_distance(answers: Answers, distance: Distance, seed: int) -> Figure:
    n = answers.per_item()
    paired = n >= 2
    if not paired.any():
        return undefined(NO_PAIR)
    _, summed = item_distances(answers, distance)
    within = 2 * summed[paired] / (n[paired] - 1)
    chance, share = _chance(answers, distance, paired, seed)
    answered = n[paired].astype(float)

    def alpha(weights: Floats) -> Floats:
        total = weights @ answered
        values = weights @ chance
        kept = values.sum(axis=1)
        # Pairs of the compared answers stand for all pairs; an answer is in no pair with itself.
        among = ((values @ share) * values).sum(axis=1)
        pairs = kept * (kept - 1)
        among = np.where(pairs > 0, among / np.where(pairs > 0, pairs, 1), 0) * total * (total - 1)
        return _alpha(weights @ within, among, total)

    return figure(alpha, np.ones(len(answered)), width=chance.shape[1], seed=seed)


def _chance(answers: Answers, distance: Distance, paired: Any, seed: int) -> tuple[Any, Floats]:
    """(how often each value of the compared answers was given, by paired item; the distance of each two values)."""
    from scipy.sparse import csr_matrix

    kept = np.flatnonzero(paired[answers.item])
    if len(np.unique(answers.value[kept])) > MOST_COMPARED:
        kept = np.sort(np.random.default_rng(seed).choice(kept, MOST_COMPARED, replace=False))
    used, place = np.unique(answers.value[kept], return_inverse=True)
    row = (np.cumsum(paired) - 1)[answers.item[kept]]
    shape = (int(paired.sum()), len(used))
    table = csr_matrix((np.ones(len(kept)), (row, place)), shape=shape)
    apart = np.zeros((len(used), len(used)))
    for one, other in combinations(range(len(used)), 2):
        apart[one, other] = apart[other, one] = distance(answers.values[used[one]], answers.values[used[other]])
    return table, apart
