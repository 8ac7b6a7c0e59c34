"""Systems that give a text one label."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from hits.text.language.words import unit_words
from hits.text.systems import Labelled, System

# Vectors have the length 1 and few words in common: a weaker penalty than scikit-learn's own learns from few texts.
STRENGTH = 10.0
TOLERANCE = 1e-3
MOST_STEPS = 300


def _random(learned: Sequence[Labelled], asked: Sequence[Labelled], seed: int) -> Sequence[str]:
    """A choice of each by chance; of items without choices, a label of those that were learned."""
    labels = sorted({row.right or "" for row in learned}) or [""]
    return [random.Random(f"{seed} {row.id}").choice(row.choices or labels) for row in asked]


def _majority(learned: Sequence[Labelled], asked: Sequence[Labelled], seed: int) -> Sequence[str]:
    """Of labels that are equally common, the first in the alphabet; empty where nothing is learned."""
    counts = Counter(row.right or "" for row in learned)
    most = min(counts, key=lambda label: (-counts[label], label), default="")
    return [most for _ in asked]


def _tf_idf(learned: Sequence[Labelled], asked: Sequence[Labelled], seed: int) -> Sequence[str]:
    """The majority where there is one label at most, or no word."""
    labels = [row.right or "" for row in learned]
    if not asked or len(set(labels)) < 2 or not any(unit_words(row.text) for row in learned):
        return _majority(learned, asked, seed)
    model = make_pipeline(
        TfidfVectorizer(analyzer=unit_words, sublinear_tf=True),
        LogisticRegression(C=STRENGTH, tol=TOLERANCE, max_iter=MOST_STEPS),
    )
    with threadpool_limits(1):
        model.fit([row.text for row in learned], labels)
        return [str(label) for label in model.predict([row.text for row in asked])]


SYSTEMS: tuple[System[Labelled], ...] = (
    System("random", "Random choice", "each choice is equally likely", _random),
    System("majority", "Most common label", "counted in what is learned", _majority),
    System(
        "tf_idf",
        "TF-IDF and logistic regression",
        "scikit-learn's TfidfVectorizer (sublinear counts of words) and LogisticRegression",
        _tf_idf,
    ),
)
