"""Borda's count: of k ranked things the first gets k - 1 points, the last none; the order is that of the points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import combinations

import numpy as np

from hits.stats.aggregation.results import Aggregated, by_worker
from hits.stats.answers import Answers, AnswersError

Ranking = tuple[Hashable, ...]


def borda(answers: Answers) -> Aggregated:
    """Values are tuples of things, the best first; of two with as many points the first in the alphabet comes first.

    Confidence is the share of (worker, two things) whose order is that of the value, and a worker's estimate the same
    over all their rankings. `tied` counts items in which two things have as many points. Raises AnswersError where the
    rankings of an item are not of the same things.
    """
    by_item: dict[int, list[int]] = defaultdict(list)
    for item, value in zip(answers.item.tolist(), answers.value.tolist(), strict=True):
        by_item[item].append(value)
    values: list[Ranking] = []
    confidence, tied = np.zeros(len(answers.items)), 0
    for at in range(len(answers.items)):
        given = [answers.values[value] for value in by_item[at]]
        order, has_tie = _order(given, answers.items[at])
        tied += has_tie
        values.append(order)
        confidence[at] = sum(in_order(one, order) for one in given) / len(given)
    pairs = zip(answers.item.tolist(), answers.value.tolist(), strict=True)
    right = np.array([in_order(answers.values[value], values[item]) for item, value in pairs])
    estimate = "share of pairs in the order of the value"
    workers = by_worker(answers, right) if len(answers) else {}
    return Aggregated("Borda", tuple(values), confidence, workers, estimate, tied=tied)


def _order(given: Sequence[Ranking], item: str) -> tuple[Ranking, bool]:
    things = set(given[0])
    if any(set(one) != things or len(one) != len(things) for one in given):
        raise AnswersError(f"The rankings of item {item!r:.60} are not of the same things, each once.")
    points = {thing: sum(len(one) - 1 - one.index(thing) for one in given) for thing in things}
    order = tuple(sorted(things, key=lambda thing: (-points[thing], str(thing))))
    return order, len(set(points.values())) < len(points)


def in_order(one: Ranking, other: Ranking) -> float:
    """The share of pairs of things that both rankings have in the same order; 1 for a single thing."""
    place = {thing: at for at, thing in enumerate(other)}
    same = [place[first] < place[second] for first, second in combinations(one, 2)]
    return sum(same) / len(same) if same else 1.0
