"""Spans of a text that enough workers marked, exactly the same ones with the same label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from hits.stats.aggregation.results import Aggregated, by_worker
from hits.stats.agreement.overlap import Span, matched
from hits.stats.answers import Answers


def votes_of(answers: Iterable[Iterable[Span]]) -> Counter[Span]:
    """How many answers have each span."""
    return Counter(span for spans in answers for span in set(spans))


def k_of_n(answers: Answers, least: float = 0.5) -> Aggregated:
    """The spans that more than `least` of an item's answers have, in the order of the text.

    Confidence is the mean share of answers that have a kept span; without a kept one it is that of those that marked
    nothing. A worker's estimate is the overlapping F1 of their spans with the value.
    """
    given: list[list[frozenset[Span]]] = [[] for _ in answers.items]
    for item, value in zip(answers.item.tolist(), answers.value.tolist(), strict=True):
        given[item].append(answers.values[value])
    values, confidence = [], np.zeros(len(given))
    for at, spans in enumerate(given):
        votes = votes_of(spans)
        kept = tuple(sorted(span for span, n in votes.items() if n > least * len(spans)))
        values.append(kept)
        shares = [votes[span] / len(spans) for span in kept] or [sum(not one for one in spans) / len(spans)]
        confidence[at] = sum(shares) / len(shares)
    right = np.ones(len(answers))
    for at, (item, value) in enumerate(zip(answers.item.tolist(), answers.value.tolist(), strict=True)):
        mine, theirs = frozenset(answers.values[value]), frozenset(values[item])
        if marked := len(mine) + len(theirs):
            right[at] = matched(mine, theirs) / marked
    workers = by_worker(answers, right) if len(answers) else {}
    return Aggregated("k of n", tuple(values), confidence, workers, "overlapping F1 with the value")
