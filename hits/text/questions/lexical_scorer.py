"""A scorer without a neural model: which words make an answer look right, and what it shares with its context.

Pairs are hashed and learned in batches, so that memory does not grow with the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

from hits.text.language.words import content, content_words, words
from hits.text.questions.pairs import Pair

_BATCH = 4096
_FEATURES = 2**18
# Lengths in words are divided by this, so that they lie about 1 as the other features do.
_USUAL_LENGTH = 10


@lru_cache(maxsize=2 * _BATCH)
def _answer_words(answer: str) -> list[str]:
    """Asked for twice in each batch."""
    return words(answer)


@lru_cache(maxsize=1024)
def _content(context: str) -> frozenset[str]:
    return frozenset(content_words(context))


def _numbers(pair: Pair) -> tuple[float, ...]:
    """Length, content words, and the share and number of content words that the context has too."""
    context, answer = pair
    found = _answer_words(answer)
    own = set(content(found))
    shared = len(own & _content(context))
    length = len(found) / _USUAL_LENGTH
    return length, len(own) / _USUAL_LENGTH, shared / max(len(own), 1), shared / _USUAL_LENGTH


class LexicalScorer:
    """Logistic regression by stochastic gradient descent, one pass, averaged; scores are probabilities 0..1."""

    def __init__(self, seed: int) -> None:
        self._hashed = HashingVectorizer(
            tokenizer=_answer_words,
            token_pattern=None,
            lowercase=False,
            ngram_range=(1, 2),
            n_features=_FEATURES,
            binary=True,
        )
        self._model = SGDClassifier(loss="log_loss", alpha=1e-5, average=True, random_state=seed % 2**32)

    def _features(self, pairs: Sequence[Pair]) -> csr_matrix:
        """(pairs, hashed words and word pairs of the answer, then the numbers)."""
        hashed = self._hashed.transform(answer for _, answer in pairs)
        return hstack([hashed, csr_matrix(np.array([_numbers(pair) for pair in pairs]))], format="csr")

    def fit(self, pairs: Sequence[Pair], follows: Sequence[bool]) -> None:
        for start in range(0, len(pairs), _BATCH):
            batch = slice(start, start + _BATCH)
            self._model.partial_fit(self._features(pairs[batch]), np.array(follows[batch]), classes=[False, True])

    def _probabilities(self, pairs: Sequence[Pair]) -> Iterator[float]:
        for start in range(0, len(pairs), _BATCH):
            found = self._model.predict_proba(self._features(pairs[start : start + _BATCH]))
            yield from found[:, 1].tolist()

    def score(self, pairs: Sequence[Pair]) -> list[float]:
        return list(self._probabilities(pairs))
