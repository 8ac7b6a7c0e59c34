"""Which methods can aggregate the values of a unit, by their level; and how often each is right on known answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hits.stats.aggregation.borda import borda
from hits.stats.aggregation.dawid_skene import dawid_skene
from hits.stats.aggregation.glad import glad
from hits.stats.aggregation.mace import mace
from hits.stats.aggregation.majority import majority, weighted_majority
from hits.stats.aggregation.results import Aggregated
from hits.stats.aggregation.scales import middle
from hits.stats.aggregation.spans import k_of_n
from hits.stats.answers import Answers
from hits.stats.intervals import wilson

# (item, value): whether it is right, where that is known.
Known = Mapping[tuple[str, Any], bool]


@dataclass(frozen=True)
class Given:
    """What a method may use. `right` has of workers (right, of how many) on known answers, of which `known` are those
    to these answers.
    """

    answers: Answers
    right: Mapping[str, tuple[int, int]]
    known: Known
    order: Sequence[Any]
    seed: int


Method = Callable[[Given], Aggregated]
METHODS: Mapping[str, tuple[str, Method]] = {
    "majority": ("Majority", lambda given: majority(given.answers)),
    "majority_seeded": ("Majority, ties drawn", lambda given: majority(given.answers, tie="seeded", seed=given.seed)),
    "weighted_majority": (
        "Weighted majority",
        lambda given: weighted_majority(given.answers, given.right, given.known),
    ),
    "dawid_skene": ("Dawid-Skene", lambda given: dawid_skene(given.answers)),
    "mace": ("MACE", lambda given: mace(given.answers, seed=given.seed)),
    "glad": ("GLAD", lambda given: glad(given.answers)),
    "median": ("Median", lambda given: middle(given.answers, "median", order=given.order)),
    "mean": ("Mean", lambda given: middle(given.answers, "mean", order=given.order)),
    "spans": ("Spans of more than half", lambda given: k_of_n(given.answers)),
    "borda": ("Borda", lambda given: borda(given.answers)),
}
_LABELS = ("majority", "majority_seeded", "weighted_majority", "dawid_skene", "mace", "glad")
# The first is taken where the one that a lead chose is none for the level.
BY_LEVEL: Mapping[str, tuple[str, ...]] = {
    "nominal": _LABELS,
    "set": ("majority", "majority_seeded", "weighted_majority"),
    "ordinal": ("median", "majority", "majority_seeded", "weighted_majority"),
    "interval": ("mean", "median"),
    "span": ("spans",),
    "ranking": ("borda",),
}


def method_of(level: str, wanted: str) -> str:
    """The wanted method, or the first one for the level."""
    names = BY_LEVEL[level]
    return wanted if wanted in names else names[0]


def shown_value(value: Any) -> Any:
    """A value as JSON holds it: sets, spans and rankings are lists."""
    if isinstance(value, frozenset):
        return sorted(map(shown_value, value), key=str)
    if isinstance(value, tuple):
        return [shown_value(part) for part in value]
    return value


@dataclass(frozen=True)
class Accuracy:
    """`right` of `of` items with a known answer have it; `low` and `high` bound the share."""

    right: int
    of: int
    low: float
    high: float


def right_by_worker(rows: Iterable[tuple[str, str, Any]], known: Known) -> dict[str, tuple[int, int]]:
    """(right, of how many) on known answers, of workers who gave some; `rows` are (item, worker, value)."""
    found: dict[str, tuple[int, int]] = {}
    for item, worker, value in rows if known else ():
        right = known.get((item, value))
        if right is not None:
            n, of = found.get(worker, (0, 0))
            found[worker] = n + right, of + 1
    return found


def accuracy(answers: Answers, found: Aggregated, known: Known) -> Accuracy | None:
    """None without known answers. An item counts as soon as one of its answers was compared with a known one; then a
    value that nobody gave is wrong.
    """
    items = {item for item, _ in known}
    judged = [
        known.get((item, frozenset(value) if isinstance(value, tuple) and found.method == "k of n" else value), False)
        for item, value in zip(answers.items, found.values, strict=True)
        if item in items
    ]
    if not judged:
        return None
    return Accuracy(sum(judged), len(judged), *wilson(sum(judged), len(judged)))


def confidences(found: Aggregated) -> list[float | None]:
    """By item; None where the method has none."""
    return [None if np.isnan(one) else min(1.0, one) for one in found.confidence.tolist()]
