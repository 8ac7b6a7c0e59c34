"""Systems that choose one of the answers to a question. Of equally good answers the first is taken."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log, sqrt

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from hits.text.filtering.filtering_classifier import MOST_STEPS, STRENGTH, TOLERANCE
from hits.text.filtering.filtering_features import Asked, features
from hits.text.language.sentences import sentences
from hits.text.language.words import unit_words
from hits.text.systems import Question, System

# Sums of the same numbers in another order differ behind these decimals: such answers are equally good.
DECIMALS = 9


def _best(scores: Sequence[float]) -> int:
    return max(range(len(scores)), key=lambda at: round(scores[at], DECIMALS))


def _random(learned: Sequence[Question], asked: Sequence[Question], seed: int) -> Sequence[int]:
    return [random.Random(f"answer {seed} {row.id}").randrange(len(row.answers)) for row in asked]


def _majority(learned: Sequence[Question], asked: Sequence[Question], seed: int) -> Sequence[int]:
    right = Counter(row.right for row in learned)
    return [_best([right[number] for number in range(len(row.answers))]) for row in asked]


def _longest(learned: Sequence[Question], asked: Sequence[Question], seed: int) -> Sequence[int]:
    return [_best([len(answer) for answer in row.answers]) for row in asked]


def _sliding_window(learned: Sequence[Question], asked: Sequence[Question], seed: int) -> Sequence[int]:
    return [_best([_in_window(row, answer) for answer in row.answers]) for row in asked]


def _in_window(row: Question, answer: str) -> float:
    """The most that a window of the text has of the question and the answer; it is as wide as they have words."""
    text, inverse = _inverse_counts(row.text)
    sought = {*unit_words(row.question), *unit_words(answer)}
    width = min(len(sought), len(text))
    sums = np.cumsum([0.0, *(own if word in sought else 0.0 for word, own in zip(text, inverse, strict=True))])
    return float((sums[width:] - sums[: len(sums) - width]).max())


@lru_cache(maxsize=1)
def _inverse_counts(text: str) -> tuple[list[str], list[float]]:
    """Each word of a text with log(1 + 1 / how often the text has it). Asked for with each answer."""
    found = unit_words(text)
    counts = Counter(found)
    return found, [log(1 + 1 / counts[word]) for word in found]


def _lexical_retrieval(learned: Sequence[Question], asked: Sequence[Question], seed: int) -> Sequence[int]:
    """In how many texts a word is, is counted in those that are learned from."""
    texts = dict.fromkeys(row.text for row in learned)
    containing = Counter(word for text in texts for word in set(unit_words(text)))

    def vector(text: str) -> dict[str, float]:
        """Smoothed as scikit-learn does it, of length 1."""
        weights = {
            word: times * (log((1 + len(texts)) / (1 + containing[word])) + 1)
            for word, times in Counter(unit_words(text)).items()
        }
        length = sqrt(sum(weight**2 for weight in weights.values()))
        return {word: weight / length for word, weight in weights.items()}

    @lru_cache(maxsize=1)
    def sentence_vectors(text: str) -> list[dict[str, float]]:
        return [vector(sentence.text) for sentence in sentences(text)]

    def score(row: Question, answer: str) -> float:
        sought = vector(f"{row.question} {answer}")
        cosines = (
            sum(weight * own.get(word, 0.0) for word, weight in sought.items()) for own in sentence_vectors(row.text)
        )
        return max(cosines, default=0.0)

    return [_best([score(row, answer) for answer in row.answers]) for row in asked]


def _logistic(learned: Sequence[Question], asked: Sequence[Question], seed: int) -> Sequence[int]:
    """Each answer is judged by itself. Patterns of a few texts are left out, for which the texts of rows that are asked
    count too.
    """
    rows = [*learned, *asked]
    by_text = sorted(range(len(rows)), key=lambda at: rows[at].text)
    matrix = features(Asked(rows[at].text, rows[at].text, rows[at].question, rows[at].answers) for at in by_text)
    ends = np.cumsum([len(rows[at].answers) for at in by_text])
    places = {at: range(end - len(rows[at].answers), end) for at, end in zip(by_text, ends, strict=True)}
    learnable = [place for at in range(len(learned)) for place in places[at]]
    right = [number == row.right for row in learned for number in range(len(row.answers))]
    if len(set(right)) < 2:
        return [0 for _ in asked]
    model = LogisticRegression(C=STRENGTH, tol=TOLERANCE, max_iter=MOST_STEPS)
    with threadpool_limits(1):
        model.fit(matrix[learnable], right)
        scores = model.decision_function(matrix).tolist()
    return [_best([scores[place] for place in places[at]]) for at in range(len(learned), len(rows))]


RANDOM = System("random", "Random answer", "drawn from the answers to the question", _random)
MAJORITY = System("majority", "Most common number of the right answer", "counted in what is learned", _majority)
LONGEST = System("longest", "Longest answer", "the answer with most characters", _longest)
SLIDING_WINDOW = System(
    "sliding_window",
    "Sliding window",
    "M. Richardson et al. (2013), MCTest, algorithm 1, without the distance between words",
    _sliding_window,
)
LEXICAL_RETRIEVAL = System(
    "lexical_retrieval",
    "Lexical retrieval (TF-IDF)",
    "the highest TF-IDF cosine of question and answer with a sentence of the text",
    _lexical_retrieval,
)
LOGISTIC = System(
    "logistic",
    "Logistic regression",
    "S. Ostermann et al. (2019), MCScript2.0, section 5.1, after E. Merkhofer et al. (2018), MITRE at SemEval-2018 "
    "task 11",
    _logistic,
)
COSMOS = (MAJORITY, LONGEST, SLIDING_WINDOW, LEXICAL_RETRIEVAL)
MCSCRIPT = (RANDOM, SLIDING_WINDOW, LOGISTIC)
SYSTEMS = tuple(dict.fromkeys((*MCSCRIPT, *COSMOS)))
