"""The logistic regression that adversarial filtering works against, on `hits.text.filtering.filtering_features`.

Features are computed once for every answer; training and scoring only pick rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from hits.text.filtering.filtered_question import FilteredQuestion
from hits.text.filtering.filtering_features import Asked, features

# From 0.01 to 1, correct answers to real questions were told from random incorrect ones in 72 to 79 of 100 pairs.
STRENGTH = 0.1
TOLERANCE = 1e-3
MOST_STEPS = 300


class LogisticClassifier:
    """L2-regularised, by L-BFGS: the same rows give the same model, whatever was trained before.

    It computes in one thread: two waited for one another in its many short sums, and took three times as long.
    """

    def __init__(self, questions: Sequence[FilteredQuestion]) -> None:
        """`questions` in an order that keeps those of a text together."""
        answers = [(one.correct, *one.incorrect) for one in questions]
        self._first = np.cumsum([0, *map(len, answers)])
        self._features: csr_matrix = features(
            Asked(one.text_key, one.text, one.question, own) for one, own in zip(questions, answers, strict=True)
        )
        self._model = LogisticRegression(C=STRENGTH, tol=TOLERANCE, max_iter=MOST_STEPS)

    @property
    def matrix_bytes(self) -> int:
        """What the features take in memory; a training copies the rows of two answers a question."""
        own = self._features
        return int(own.data.nbytes + own.indices.nbytes + own.indptr.nbytes)

    def fit(self, questions: Sequence[int], assigned: Sequence[int]) -> None:
        correct = self._first[np.asarray(questions)]
        rows = np.concatenate([correct, correct + 1 + np.asarray(assigned)])
        right = np.arange(len(rows)) < len(correct)
        with threadpool_limits(1):
            self._model.fit(self._features[rows], right)

    def scores(self, questions: Sequence[int]) -> list[list[float]]:
        spans = [range(self._first[at], self._first[at + 1]) for at in questions]
        # Not probabilities: rounded to 1.0, those of two sure answers would be equal.
        found = iter(self._model.decision_function(self._features[np.concatenate(spans)]).tolist())
        return [[next(found) for _ in span] for span in spans]
