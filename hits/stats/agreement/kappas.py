"""Agreement in percent, and kappas, which take away what chance alone would give. All for values without an order.

Fleiss' kappa wants as many answers to each item (J. L. Fleiss 1971, Measuring nominal scale agreement among many
raters). Where items have unequal numbers, each item with two answers or more counts once with the share of its pairs
that agree, and chance is that of all their answers together; with equal numbers this is Fleiss' own formula. Cohen's is
for two annotators, over the items that both answered (J. Cohen 1960, A coefficient of agreement for nominal scales).
"""

from __future__ import annotations

import numpy as np

from hits.stats.agreement.counts import Counts
from hits.stats.agreement.figures import Figure, figure, undefined
from hits.stats.answers import Answers, Floats

NO_PAIR = "no item has two answers"


def pairwise(counts: Counts, *, seed: int) -> Figure:
    """The share of all pairs of answers to the same item that are the same, 0..1."""
    if not len(counts.times):
        return undefined(NO_PAIR)
    equal, pairs = counts.equal_pairs, counts.pairs
    return figure(lambda weights: (weights @ equal) / (weights @ pairs), counts.times, width=1, seed=seed)


def fleiss_kappa(counts: Counts, *, seed: int) -> Figure:
    if not len(counts.times):
        return undefined(NO_PAIR)
    shares = counts.equal_pairs / counts.pairs

    def kappa(weights: Floats) -> Floats:
        values = weights @ counts.table / (weights @ counts.answers)[:, np.newaxis]
        return _beyond_chance(weights @ shares / weights.sum(axis=1), (values**2).sum(axis=1))

    return figure(kappa, counts.times, width=counts.table.shape[1], seed=seed)


def cohen_kappa(answers: Answers, *, seed: int) -> Figure:
    """Undefined unless there are exactly two annotators, who answered an item both."""
    if len(answers.workers) != 2:
        return undefined(f"it is for two annotators, and there are {len(answers.workers):,}")
    both = answers.per_item()[answers.item] == 2
    if not both.any():
        return undefined("the two annotators answered no item both")
    from scipy.sparse import csr_matrix

    # By item and worker: so every second answer is that of the first annotator.
    said = answers.value[both].reshape(-1, 2)
    pairs, times = np.unique(said, axis=0, return_counts=True)
    rows, size = np.arange(len(pairs)), (len(pairs), len(answers.values))
    one, other = (csr_matrix((np.ones(len(pairs)), (rows, pairs[:, at])), shape=size) for at in (0, 1))
    same = (pairs[:, 0] == pairs[:, 1]).astype(float)

    def kappa(weights: Floats) -> Floats:
        n = weights.sum(axis=1)
        chance = ((weights @ one) * (weights @ other)).sum(axis=1) / n**2
        return _beyond_chance(weights @ same / n, chance)

    return figure(kappa, times.astype(float), width=size[1], seed=seed)


def _beyond_chance(seen: Floats, chance: Floats) -> Floats:
    """NaN where chance alone agrees always: there is one value only."""
    room = 1 - chance
    return np.where(room > 1e-12, (seen - chance) / np.where(room > 1e-12, room, 1), np.nan)
