"""The value given most often, each answer counting as much, or by how often its worker is right on known answers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from hits.stats.aggregation.results import Aggregated, by_worker
from hits.stats.answers import Answers, Floats, Numbers

_NONE: Mapping[tuple[str, Any], bool] = MappingProxyType({})
Tie = Literal["none", "shared", "seeded"]
TIES: Mapping[str, str] = {
    "none": "a tie has no value",
    "shared": "a tie has all its values, each right in part",
    "seeded": "a tie is drawn by the project's seed",
}


def majority(answers: Answers, *, tie: Tie = "none", seed: int = 0) -> Aggregated:
    """Confidence is the share of an item's answers that gave the value.

    With `shared` the value of a tie is the tuple of its values.
    """
    return _weighted("majority", answers, np.ones(len(answers)), tie, seed)


def weighted_majority(
    answers: Answers,
    accuracy: Mapping[str, tuple[int, int]],
    known: Mapping[tuple[str, Any], bool] = _NONE,
    *,
    tie: Tie = "none",
    seed: int = 0,
) -> Aggregated:
    """`accuracy` has of each worker (right, of how many) on known answers.

    An answer weighs (right + 1) / (of how many + 2), the share that is expected of the next one (Laplace's rule): so
    one of a worker without known answers weighs a half. `known` says of (item, value) whether it is right, where
    `accuracy` counts it: such an item is weighted by the others alone, as its own known answer must not choose its
    value.
    """
    right, of = np.array([accuracy.get(worker, (0, 0)) for worker in answers.workers], float).reshape(-1, 2).T
    counted, was_right = _known(answers, known)
    weights = (right[answers.worker] - was_right + 1) / (of[answers.worker] - counted + 2)
    found = _weighted("weighted majority", answers, weights, tie, seed)
    workers = dict(zip(answers.workers, ((right + 1) / (of + 2)).tolist(), strict=True))
    return Aggregated(
        **{**vars(found), "workers": workers, "estimate": "expected share of right answers on known ones"}
    )


def _known(answers: Answers, known: Mapping[tuple[str, Any], bool]) -> tuple[Floats, Floats]:
    """Of each answer whether it is known to be right or wrong, and whether it is right: 1 or 0."""
    items, values = ({one: at for at, one in enumerate(ones)} for ones in (answers.items, answers.values))
    places = [
        (items[item] * len(values) + values[value], is_right)
        for (item, value), is_right in known.items()
        if item in items and value in values
    ]
    keys = answers.item * len(values) + answers.value
    counted = np.isin(keys, [place for place, _ in places])
    right = np.isin(keys, [place for place, is_right in places if is_right])
    return counted.astype(float), right.astype(float)


def _weighted(method: str, answers: Answers, weights: Floats, tie: Tie, seed: int) -> Aggregated:
    item, value, best, share = _best(answers, weights)
    several = np.bincount(item[best], minlength=len(answers.items))
    chosen = _chosen(item[best], value[best], several, tie, seed)
    values = [answers.values[at] if at >= 0 else None for at in chosen.tolist()]
    if tie == "shared":
        for at in np.flatnonzero(several > 1).tolist():
            values[at] = tuple(answers.values[each] for each in value[best & (item == at)].tolist())
    confidence = np.zeros(len(answers.items))
    confidence[item[best]] = share[best]
    same = chosen[answers.item] == answers.value
    return Aggregated(
        method,
        tuple(values),
        confidence,
        by_worker(answers, same.astype(float)),
        "share of answers that are the majority's",
        tied=int((several > 1).sum()),
        note=TIES[tie],
    )


def _best(answers: Answers, weights: Floats) -> tuple[Numbers, Numbers, Numbers, Floats]:
    """(item, value, whether it is the best of its item, its share of the weights) of each value of each item."""
    keys, cell = np.unique(answers.item * max(len(answers.values), 1) + answers.value, return_inverse=True)
    item, value = divmod(keys, max(len(answers.values), 1))
    heard = np.bincount(cell, weights, minlength=len(keys))
    most = np.zeros(len(answers.items))
    np.maximum.at(most, item, heard)
    total = np.bincount(item, heard, minlength=len(answers.items))
    # Sums of weights that are equal may differ in their last digit.
    return item, value, heard >= most[item] * (1 - 1e-9), heard / total[item]


def _chosen(item: Numbers, value: Numbers, several: Numbers, tie: Tie, seed: int) -> Numbers:
    """Of the best values of each item one, -1 for none."""
    starts = np.cumsum(several) - several
    if tie == "seeded":
        starts = starts + np.random.default_rng(seed).integers(0, several)
        return np.take(value, starts)
    return np.where(several > 1, -1, value[starts])
