"""What every method of aggregation gives: a value and a confidence an item, an estimate a worker."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hits.stats.answers import Answers, Floats, Numbers

# Numbers in one table of a method, 8 bytes each.
MOST_CELLS = 20_000_000


class NotFeasibleError(ValueError):
    """The method cannot be used for these answers; the sentence says what to choose instead."""


@dataclass(frozen=True)
class Aggregated:
    """`values` and `confidence` are those of the answers' items, in their order; a value is None where there is none.

    `confidence` is 0..1 for labels and NaN for scales, whose `intervals` have both ends of the 95 % interval.
    `workers` are estimates by worker, which `estimate` explains. `tied` counts items without a single best value.
    """

    method: str
    values: tuple[Any, ...]
    confidence: Floats
    workers: dict[str, float] = field(default_factory=dict)
    estimate: str = ""
    iterations: int = 0
    converged: bool = True
    tied: int = 0
    note: str = ""
    intervals: Floats | None = None


def check_size(method: str, answers: Answers, *, squared: bool = False) -> None:
    """Raises NotFeasibleError where the tables of a method would take too much memory."""
    labels = len(answers.values)
    tables = [len(answers.items) * labels, len(answers.workers) * labels * (labels if squared else 1)]
    if max(tables) > MOST_CELLS:
        # Only the table of confusions is too large: methods without it may do.
        instead = "MACE or GLAD, which estimate one ability of each worker, or the majority"
        choose = instead if squared and max(tables[0], len(answers.workers) * labels) <= MOST_CELLS else "the majority"
        raise NotFeasibleError(
            f"{method} does not take so many different values: {labels:,} of {len(answers.workers):,} workers to "
            f"{len(answers.items):,} items. Choose {choose}."
        )


def most_probable(answers: Answers, probabilities: Floats) -> tuple[tuple[Any, ...], Floats, int]:
    """(values, their probabilities, how many items have several best ones, of which the first is taken)."""
    if not len(answers):
        return (), np.zeros(0), 0
    best = probabilities.argmax(axis=1)
    confidence = probabilities[np.arange(len(best)), best]
    tied = int(((probabilities >= confidence[:, np.newaxis] - 1e-12).sum(axis=1) > 1).sum())
    return tuple(answers.values[at] for at in best), confidence, tied


def shares(answers: Answers) -> Floats:
    """Items x values: the share of each item's answers that gave each value."""
    counts = np.bincount(
        answers.item * len(answers.values) + answers.value, minlength=len(answers.items) * len(answers.values)
    ).reshape(len(answers.items), -1)
    found: Floats = counts / counts.sum(axis=1, keepdims=True)
    return found


def by_worker(answers: Answers, of_answers: Floats | Numbers) -> dict[str, float]:
    """The mean of a figure of answers, by worker."""
    size = len(answers.workers)
    means = np.bincount(answers.worker, of_answers, minlength=size) / np.bincount(answers.worker, minlength=size)
    return dict(zip(answers.workers, means.tolist(), strict=True))
