"""Which labels are taken for which, which items divide the workers, and which workers differ from the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hits.stats.agreement.alpha import DISTANCES, item_distances
from hits.stats.agreement.counts import counts_of
from hits.stats.answers import Answers, Floats, Numbers
from hits.stats.intervals import wilson

# Rows and columns that a person can read; the values given most often are shown.
MOST_LABELS = 12
PULL = 5


@dataclass(frozen=True)
class Confusion:
    """`table[i][j]`: answers `labels[i]` beside answers `labels[j]` to the same item; `left_out` labels have no row.

    Each answer is spread over the other answers of its item, so that it counts once: numbers have fractions, and
    the table is the same from both sides.
    """

    labels: tuple[Any, ...]
    table: tuple[tuple[float, ...], ...]
    left_out: int = 0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def confusion(answers: Answers, most: int = MOST_LABELS) -> Confusion:
    """The matrix of coincidences by which alpha is defined."""
    counts = counts_of(answers)
    # Places of the values given most often, in their own order.
    given = np.bincount(answers.value, minlength=len(answers.values))
    kept = np.sort(np.argsort(-given, kind="stable")[:most])
    table = counts.table[:, kept]
    each = counts.times / (counts.answers - 1)
    pairs = (table.T @ table.multiply(each[:, np.newaxis]).tocsr()).toarray()
    pairs[np.diag_indices(len(kept))] -= each @ table
    rows = tuple(tuple(round(float(cell), 2) for cell in row) for row in pairs)
    return Confusion(tuple(answers.values[at] for at in kept), rows, len(answers.values) - len(kept))


def entropies(answers: Answers) -> Floats:
    """Of each item the entropy of its values in bits; 0 where all are the same or there is one answer."""
    item, _, times = answers.cells()
    shares = times / answers.per_item()[item]
    found = np.bincount(item, -shares * np.log2(shares), minlength=len(answers.items))
    return np.maximum(found, 0.0)


def disagreement(answers: Answers, level: str, order: Sequence[Any] = ()) -> tuple[Floats, Floats]:
    """(of each item, of each answer): how far answers to one item lie apart; NaN where there is one answer.

    Of an item: the share of its pairs that differ; for sets and spans their mean distance; for scales the standard
    deviation, of places where they are ordinal. Of an answer: the same share or mean against the other answers of its
    item; for scales how far it lies from their mean.
    """
    n = answers.per_item()
    with np.errstate(invalid="ignore", divide="ignore"):
        if level in ("set", "span"):
            by_answer, by_item = item_distances(answers, DISTANCES[level])
            return 2 * by_item / np.where(n > 1, n * (n - 1), np.nan), by_answer / _others(answers, n)
        if level in ("interval", "ordinal"):
            return _on_scale(answers, answers.numbers() if level == "interval" else answers.places(order), n)
        item, value, times = answers.cells()
        same = np.bincount(item, times * (times - 1), minlength=len(n))
        of_value = times[np.searchsorted(item * len(answers.values) + value, _keys(answers))]
        return 1 - same / np.where(n > 1, n * (n - 1), np.nan), 1 - (of_value - 1) / _others(answers, n)


def _keys(answers: Answers) -> Numbers:
    return answers.item * len(answers.values) + answers.value


def _others(answers: Answers, n: Numbers) -> Floats:
    """How many other answers the item of each answer has; NaN without any."""
    others = n[answers.item] - 1.0
    return np.where(others > 0, others, np.nan)


def _on_scale(answers: Answers, scale: Floats, n: Numbers) -> tuple[Floats, Floats]:
    said = scale[answers.value]
    sums = np.bincount(answers.item, said, minlength=len(n))
    means = sums / np.maximum(n, 1)
    squares = np.bincount(answers.item, (said - means[answers.item]) ** 2, minlength=len(n))
    deviation = np.sqrt(squares / np.where(n > 1, n - 1, np.nan))
    return deviation, np.abs(said - (sums[answers.item] - said) / _others(answers, n))


def worst_items(answers: Answers, by_item: Floats, most: int) -> list[tuple[str, float]]:
    """The items that divide the workers most, with what `disagreement` says of them; those with none are left out."""
    order = np.argsort(-np.nan_to_num(by_item), kind="stable")[:most]
    return [(answers.items[at], float(by_item[at])) for at in order if by_item[at] > 0]


@dataclass(frozen=True)
class Difference:
    """How a worker's answers differ from the others': `distance` is the mean of `disagreement` over `items` items.

    `same` of `compared` are the label that most of the other workers gave; items where these are tied are not
    compared. `low` and `high` bound that share. `mistaken`: (what the others said, what the worker said, how often).
    """

    worker: str
    items: int
    distance: float
    compared: int
    same: int
    low: float
    high: float
    mistaken: tuple[tuple[Any, Any, int], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def differences(answers: Answers, by_answer: Floats, most_mistakes: int = 5) -> list[Difference]:
    """A row for each worker of an item with another answer, those who differ most first.

    For the order a worker has `PULL` more answers like the average one: so nobody is first by a single answer.
    """
    there = np.isfinite(by_answer)
    size = len(answers.workers)
    items = np.bincount(answers.worker[there], minlength=size)
    sums = np.bincount(answers.worker[there], by_answer[there], minlength=size)
    consensus = others_consensus(answers)
    told = consensus >= 0
    compared = np.bincount(answers.worker[told], minlength=size)
    same = np.bincount(answers.worker[told & (consensus == answers.value)], minlength=size)
    mistakes = _mistakes(answers, consensus, most_mistakes)
    found = [
        Difference(
            answers.workers[at],
            int(items[at]),
            float(sums[at] / items[at]),
            int(compared[at]),
            int(same[at]),
            *wilson(int(same[at]), int(compared[at])),
            tuple(mistakes.get(int(at), ())),
        )
        for at in np.flatnonzero(items)
    ]
    mean = float(by_answer[there].mean()) if there.any() else 0.0

    def pulled(row: Difference) -> float:
        return (row.distance * row.items + mean * PULL) / (row.items + PULL)

    return sorted(found, key=lambda row: (-pulled(row), row.worker))


def others_consensus(answers: Answers) -> Numbers:
    """Of each answer the value that the other answers of its item have most often, by its place; -1 in a tie."""
    item, value, times = answers.cells()
    order = np.lexsort((value, -times, item))
    item, value, times = item[order], value[order], times[order]
    starts = np.searchsorted(item, np.arange(len(answers.items)))
    # How often the three commonest values of each item were given, 0 where there are fewer.
    at = starts[:, np.newaxis] + np.arange(3)
    inside = np.minimum(at, max(len(item) - 1, 0))
    belongs = (at < len(item)) & (item[inside] == np.arange(len(answers.items))[:, np.newaxis])
    first, second, third = np.where(belongs, times[inside], 0)[answers.item].T
    commonest, next_one = value[inside][answers.item, :2].T
    # Without an answer of the commonest value, that may lose its place to the next one.
    own = first - 1
    of_commonest = np.where(own > second, commonest, np.where((own < second) & (second > third), next_one, -1))
    return np.where(
        answers.value == commonest, of_commonest, _of_others(answers, first, second, third, commonest, next_one)
    )


def _of_others(
    answers: Answers, first: Numbers, second: Numbers, third: Numbers, commonest: Numbers, next_one: Numbers
) -> Numbers:
    """For answers that do not have the commonest value: it stays, unless another one is as common."""
    rival = np.where(answers.value == next_one, np.maximum(second - 1, third), second)
    return np.where(first > rival, commonest, -1)


def _mistakes(answers: Answers, consensus: Numbers, most: int) -> dict[int, list[tuple[Any, Any, int]]]:
    wrong = (consensus >= 0) & (consensus != answers.value)
    if not wrong.any():
        return {}
    rows = np.stack([answers.worker[wrong], consensus[wrong], answers.value[wrong]], axis=1)
    kinds, times = np.unique(rows, axis=0, return_counts=True)
    found: dict[int, list[tuple[Any, Any, int]]] = {}
    for at in np.lexsort((-times, kinds[:, 0])):
        worker, right, said = kinds[at].tolist()
        mine = found.setdefault(worker, [])
        if len(mine) < most:
            mine.append((answers.values[right], answers.values[said], int(times[at])))
    return found
