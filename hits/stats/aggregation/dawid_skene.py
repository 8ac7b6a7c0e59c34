"""Dawid and Skene's model: every worker takes each true value for each other one with a probability of their own.

Source: A. P. Dawid and A. M. Skene (1979), Maximum likelihood estimation of observer error-rates using the EM
algorithm. It begins with the shares of each item's answers. Every step is a product with a sparse matrix of items and
(worker, value), so that its time grows with the number of answers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hits.stats.aggregation.results import Aggregated, check_size, most_probable, shares
from hits.stats.answers import Answers, Floats

LEAST = 1e-10
# Mean gain of the log likelihood an answer that ends it.
TOLERANCE = 1e-6
MOST_ITERATIONS = 100


def dawid_skene(answers: Answers, *, iterations: int = MOST_ITERATIONS, tolerance: float = TOLERANCE) -> Aggregated:
    """Raises NotFeasibleError where workers x values x values are too many."""
    check_size("Dawid-Skene", answers, squared=True)
    if not len(answers):
        return Aggregated("Dawid-Skene", (), np.zeros(0))
    truth, errors, step, converged = fit(answers, iterations=iterations, tolerance=tolerance)
    values, confidence, tied = most_probable(answers, truth)
    return Aggregated(
        "Dawid-Skene",
        values,
        confidence,
        _right(answers, errors, truth.mean(axis=0)),
        "probability of a right answer",
        step,
        converged,
        tied,
    )


def fit(
    answers: Answers, *, smoothing: float = 0, iterations: int = MOST_ITERATIONS, tolerance: float = TOLERANCE
) -> tuple[Floats, Floats, int, bool]:
    """(items x values: probabilities; errors as `_errors` gives them; iterations; whether it converged).

    `smoothing` is how many answers a true value those of all workers count beside a worker's own; 0 is the paper's.
    """
    given, labels = _given(answers), len(answers.values)
    transposed = given.T.tocsr()
    truth = shares(answers)
    before, converged, step = -np.inf, False, 0
    while not converged and step < iterations:
        step += 1
        prior = np.maximum(truth.mean(axis=0), LEAST)
        truth, likelihood = _truth(given, _errors(transposed, truth, labels, smoothing), prior)
        converged, before = likelihood - before < tolerance * len(answers), likelihood
    return truth, _errors(transposed, truth, labels, smoothing), step, converged


def _given(answers: Answers) -> Any:
    """Items x (worker, value): 1 where the worker gave the value to the item."""
    from scipy.sparse import csr_matrix

    # Answers are ordered by item, so this is the compressed form already.
    ends = np.concatenate([[0], np.cumsum(answers.per_item())])
    columns = answers.worker * len(answers.values) + answers.value
    shape = (len(answers.items), len(answers.workers) * len(answers.values))
    return csr_matrix((np.ones(len(answers)), columns, ends), shape=shape)


def _errors(transposed: Any, truth: Floats, labels: int, smoothing: float) -> Floats:
    """(worker, value given) x true value: probabilities, which add up to 1 for each worker and true value."""
    counts = np.maximum((transposed @ truth).reshape(-1, labels, labels), LEAST)
    if smoothing:
        # One more answer a pair, so that no pair is impossible.
        pooled = counts.sum(axis=0) + 1
        counts = counts + smoothing * pooled / pooled.sum(axis=0)
    errors: Floats = counts / counts.sum(axis=1, keepdims=True)
    return errors.reshape(-1, labels)


def _truth(given: Any, errors: Floats, prior: Floats) -> tuple[Floats, float]:
    """(items x values: probabilities; the log likelihood of all answers)."""
    logs = given @ np.log(errors) + np.log(prior)
    most = logs.max(axis=1, keepdims=True)
    np.exp(logs - most, out=logs)
    total = logs.sum(axis=1, keepdims=True)
    likelihood = float(most.sum() + np.log(total).sum())
    logs /= total
    return logs, likelihood


def _right(answers: Answers, errors: Floats, prior: Floats) -> dict[str, float]:
    labels = len(answers.values)
    right = np.einsum("wkk,k->w", errors.reshape(-1, labels, labels), prior)
    return dict(zip(answers.workers, right.tolist(), strict=True))
