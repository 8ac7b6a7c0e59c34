"""How often each value was given to each item that has two answers or more; items with the same counts are one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hits.stats.answers import Answers, Floats, Numbers


@dataclass(frozen=True)
class Counts:
    """`table` (rows x values) is sparse, `answers` are those of a row's items each, `times` is how many items it is."""

    table: Any
    answers: Floats
    times: Floats

    @property
    def equal_pairs(self) -> Floats:
        """Ordered pairs of a row's answers that are the same."""
        return np.asarray(self.table.multiply(self.table).sum(axis=1)).ravel() - self.answers

    @property
    def pairs(self) -> Floats:
        return self.answers * (self.answers - 1)


def counts_of(answers: Answers) -> Counts:
    # Imported late: it takes a while, and few programs need it.
    from scipy.sparse import csr_matrix

    item, value, times = answers.cells()
    paired = answers.per_item() >= 2
    kept = paired[item]
    row = (np.cumsum(paired) - 1)[item[kept]]
    shape = (int(paired.sum()), len(answers.values))
    table = csr_matrix((times[kept].astype(float), (row, value[kept])), shape=shape)
    first, repeats = _same(row, value[kept], times[kept], shape)
    table = table[first]
    return Counts(table, np.asarray(table.sum(axis=1)).ravel(), repeats.astype(float))


def _same(row: Numbers, value: Numbers, times: Numbers, shape: tuple[int, int]) -> tuple[Numbers, Numbers]:
    """One row of each kind, and how many rows are of it. Where the kinds cannot be numbered, each is one of its own."""
    base = int(times.max(initial=0)) + 1
    if shape[1] * np.log2(base) > 52:
        return np.arange(shape[0]), np.ones(shape[0], dtype=np.int64)
    kind = np.zeros(shape[0], dtype=np.int64)
    np.add.at(kind, row, times * base**value)
    _, first, repeats = np.unique(kind, return_index=True, return_counts=True)
    return first, repeats
