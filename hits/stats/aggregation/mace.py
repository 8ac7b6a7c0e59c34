"""MACE: a worker either knows the true value or answers by a habit of their own, whatever the item.

Source: D. Hovy, T. Berg-Kirkpatrick, A. Vaswani and E. Hovy (2013), Learning whom to trust with MACE: variational
Bayes, with a Beta(0.5, 0.5) prior on knowing and a Dirichlet(10) prior on habits, ten restarts from different draws,
of which the likeliest is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hits.stats.aggregation.results import Aggregated, check_size, most_probable
from hits.stats.answers import Answers, Floats, Numbers

RESTARTS, MOST_ITERATIONS = 10, 50
TOLERANCE = 1e-6
KNOWING_PRIOR, HABIT_PRIOR = 0.5, 10.0
NOISE = 0.5


@dataclass(frozen=True)
class _Fit:
    likelihood: float
    truth: Floats
    knowing: Floats
    iterations: int
    converged: bool


def mace(answers: Answers, *, seed: int, restarts: int = RESTARTS, iterations: int = MOST_ITERATIONS) -> Aggregated:
    """Raises NotFeasibleError where items x values are too many."""
    check_size("MACE", answers)
    if not len(answers):
        return Aggregated("MACE", (), np.zeros(0))
    model = _Model(answers)
    draw = np.random.default_rng(seed)
    best = max((model.fit(draw, iterations) for _ in range(restarts)), key=lambda fit: fit.likelihood)
    values, confidence, tied = most_probable(answers, best.truth)
    workers = dict(zip(answers.workers, best.knowing.tolist(), strict=True))
    return Aggregated(
        "MACE", values, confidence, workers, "probability of knowing", best.iterations, best.converged, tied
    )


class _Model:
    """Everything that an iteration needs of the answers, made once."""

    def __init__(self, answers: Answers) -> None:
        self._shape = len(answers.workers), len(answers.values)
        self._starts = np.concatenate([[0], np.cumsum(answers.per_item())[:-1]])
        self._items = len(answers.items)
        self._worker = answers.worker
        # Which cell of workers x values, and of items x values, an answer is.
        self._by_worker: Numbers = answers.worker * self._shape[1] + answers.value
        self._by_item: Numbers = answers.item * self._shape[1] + answers.value

    def fit(self, draw: np.random.Generator, iterations: int) -> _Fit:
        workers, labels = self._shape
        knowing = draw.uniform(1, 1 + NOISE, workers)
        guessing = draw.uniform(1, 1 + NOISE, workers)
        knowing, guessing = knowing / (knowing + guessing), guessing / (knowing + guessing)
        habits = draw.uniform(1, 1 + NOISE, self._shape)
        habits /= habits.sum(axis=1, keepdims=True)
        before, converged, step = -np.inf, False, 0
        truth, likelihood, known, guessed = self._expect(knowing, guessing, habits)
        while not converged and step < iterations:
            step += 1
            knowing, guessing, habits = self._maximise(known, guessed)
            truth, likelihood, known, guessed = self._expect(knowing, guessing, habits)
            converged, before = abs(likelihood - before) < TOLERANCE * len(self._worker), likelihood
        return _Fit(likelihood, truth, knowing / (knowing + guessing), step, converged)

    def _expect(self, knowing: Floats, guessing: Floats, habits: Floats) -> tuple[Floats, float, Floats, Floats]:
        """(items x values: probabilities; the log likelihood; how often each worker knew; guessed each value)."""
        workers, labels = self._shape
        guess = np.maximum(guessing[:, np.newaxis] * habits, 1e-300)
        right = guess + knowing[:, np.newaxis]
        # What an answer adds to every value of its item, and what more to its own.
        base = np.add.reduceat(np.log(guess).ravel()[self._by_worker], self._starts)
        gain = np.log(right / guess).ravel()[self._by_worker]
        logs = np.bincount(self._by_item, gain, minlength=self._items * labels).reshape(-1, labels)
        most = logs.max(axis=1, keepdims=True)
        truth = np.exp(logs - most)
        total = truth.sum(axis=1, keepdims=True)
        likelihood = float((base + most[:, 0] + np.log(total[:, 0])).sum() - self._items * np.log(labels))
        truth /= total
        knew = truth.ravel()[self._by_item] * (knowing[:, np.newaxis] / right).ravel()[self._by_worker]
        given = np.bincount(self._by_worker, minlength=workers * labels).reshape(self._shape)
        known = np.bincount(self._by_worker, knew, minlength=workers * labels).reshape(self._shape)
        guessed: Floats = np.subtract(given, known, dtype=float)
        return truth, likelihood, known.sum(axis=1), guessed

    @staticmethod
    def _maximise(known: Floats, guessed: Floats) -> tuple[Floats, Floats, Floats]:
        """Expected logarithms of the parameters under their posterior, as factors."""
        from scipy.special import digamma

        total = digamma(known + guessed.sum(axis=1) + 2 * KNOWING_PRIOR)
        knowing = np.exp(digamma(known + KNOWING_PRIOR) - total)
        guessing = np.exp(digamma(guessed.sum(axis=1) + KNOWING_PRIOR) - total)
        all_habits = digamma(guessed.sum(axis=1, keepdims=True) + HABIT_PRIOR * guessed.shape[1])
        return knowing, guessing, np.exp(digamma(guessed + HABIT_PRIOR) - all_habits)
