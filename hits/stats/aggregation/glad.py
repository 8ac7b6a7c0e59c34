"""GLAD: workers have an ability, items an ease; a right answer is as likely as the logistic function of their product.

Source: J. Whitehill, P. Ruvolo, T. Wu, J. Bergsma and J. Movellan (2009), Whose vote should count more. The ease is
exp(b), all values are as likely at first, a wrong answer is any other value, and a and b have normal priors around 1.
"""

from __future__ import annotations

import numpy as np

from hits.stats.aggregation.results import Aggregated, NotFeasibleError, check_size, most_probable
from hits.stats.answers import Answers, Floats

MOST_ANSWERS = 100_000
MOST_ITERATIONS, SEARCH_STEPS = 100, 100
# So fine that values at the edge do not hang on how a machine rounds.
TOLERANCE, SEARCH_TOLERANCE = 1e-6, 1e-3


def glad(answers: Answers, *, iterations: int = MOST_ITERATIONS) -> Aggregated:
    """Raises NotFeasibleError for more than MOST_ANSWERS answers."""
    if len(answers) > MOST_ANSWERS:
        raise NotFeasibleError(
            f"GLAD takes at most {MOST_ANSWERS:,} answers, and there are {len(answers):,}: it searches an ease for "
            "each item. Choose Dawid-Skene or MACE."
        )
    check_size("GLAD", answers)
    if not len(answers):
        return Aggregated("GLAD", (), np.zeros(0))
    model = _Model(answers)
    point = np.ones(len(answers.workers) + len(answers.items))
    before, converged, step = -np.inf, False, 0
    truth = model.truth(point)
    while not converged and step < iterations:
        step += 1
        point, reached = model.search(point, truth)
        truth = model.truth(point)
        converged, before = reached - before < TOLERANCE * len(answers), reached
    values, confidence, tied = most_probable(answers, truth)
    workers = dict(zip(answers.workers, point[: len(answers.workers)].tolist(), strict=True))
    return Aggregated(
        "GLAD", values, confidence, workers, "ability; below 0 is worse than chance", step, converged, tied
    )


class _Model:
    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._wrong = np.log(max(len(answers.values) - 1, 1))
        self._cell = answers.item * len(answers.values) + answers.value

    def _products(self, point: Floats) -> tuple[Floats, Floats, Floats]:
        """(ability, ease, their product) of each answer."""
        ability = point[: len(self._answers.workers)][self._answers.worker]
        ease = np.exp(np.clip(point[len(self._answers.workers) :], -50, 50))[self._answers.item]
        return ability, ease, ability * ease

    def truth(self, point: Floats) -> Floats:
        """Items x values: probabilities."""
        product = self._products(point)[2]
        right, wrong = -np.logaddexp(0, -product), -np.logaddexp(0, product) - self._wrong
        labels, items = len(self._answers.values), len(self._answers.items)
        logs = np.bincount(self._cell, right - wrong, minlength=items * labels).reshape(items, labels)
        found: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
        found /= found.sum(axis=1, keepdims=True)
        return found

    def search(self, point: Floats, truth: Floats) -> tuple[Floats, float]:
        """(abilities and eases that fit the probabilities better, how well they fit)."""
        from scipy.optimize import minimize

        right = truth.ravel()[self._cell]
        found = minimize(
            self._loss,
            point,
            args=(right,),
            jac=True,
            method="CG",
            tol=SEARCH_TOLERANCE,
            options={"maxiter": SEARCH_STEPS},
        )
        return found.x, -float(found.fun)

    def _loss(self, point: Floats, right: Floats) -> tuple[float, Floats]:
        """(the negative expected log likelihood with the priors, its gradient)."""
        from scipy.special import expit

        ability, ease, product = self._products(point)
        fit = right * -np.logaddexp(0, -product) + (1 - right) * (-np.logaddexp(0, product) - self._wrong)
        off = right - expit(product)
        workers, items = len(self._answers.workers), len(self._answers.items)
        by_worker = np.bincount(self._answers.worker, off * ease, minlength=workers)
        by_item = np.bincount(self._answers.item, off * product, minlength=items)
        gradient = np.concatenate([by_worker, by_item]) - (point - 1)
        return -float(fit.sum() - ((point - 1) ** 2).sum() / 2), -gradient
