"""Exact match and token F1, as the SQuAD evaluation scores answers.

Sources: P. Rajpurkar et al. (2016), SQuAD, section 6.1, and ReCoRD's evaluation script, which took over SQuAD's first
one: an answer that normalises to nothing, such as the name "The The", has no token in common with any, so its F1 is 0,
also where it matches exactly.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_DROP_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True)
class Scores:
    """`em` and `f1` in percent 0..100, macro-averaged over `n` queries."""

    em: float
    f1: float
    n: int


def normalise(text: str) -> str:
    """Lower case, without ASCII punctuation and the words a, an, the; single spaces."""
    bare = text.lower().translate(_DROP_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def _pair_f1(prediction: str, reference: str) -> float:
    said, wanted = normalise(prediction).split(), normalise(reference).split()
    common = sum((Counter(said) & Counter(wanted)).values())
    return 2 * common / (len(said) + len(wanted)) if common else 0.0


def _refuse_no_references(references: Sequence[str]) -> None:
    if not references:
        raise ValueError("an answer needs at least one reference to be compared with")


def exact_match(prediction: str, references: Sequence[str]) -> float:
    """1.0 if the normalised prediction equals a normalised reference, else 0.0. Raises ValueError."""
    _refuse_no_references(references)
    said = normalise(prediction)
    return float(any(said == normalise(reference) for reference in references))


def token_f1(prediction: str, references: Sequence[str]) -> float:
    """The best F1 over the references, 0..1; tokens are counted with repetition. Raises ValueError."""
    _refuse_no_references(references)
    return max(_pair_f1(prediction, reference) for reference in references)


def macro(
    predictions: Mapping[str, str],
    references: Mapping[str, Sequence[str]],
    *,
    missing: Literal["error", "wrong"] = "error",
) -> Scores:
    """Means over the queries of `references`, in percent.

    A query without a prediction raises ValueError, or counts as wrong with missing="wrong". A prediction for
    an unknown query and an empty set of references raise ValueError.
    """
    _refuse_unmatched(predictions, references, missing)
    em = sum(exact_match(said, references[key]) for key, said in predictions.items())
    f1 = sum(token_f1(said, references[key]) for key, said in predictions.items())
    n = len(references)
    return Scores(em=100 * em / n, f1=100 * f1 / n, n=n)


def _refuse_unmatched(
    predictions: Mapping[str, str], references: Mapping[str, Sequence[str]], missing: Literal["error", "wrong"]
) -> None:
    if not references:
        raise ValueError("there is no query to score")
    if unknown := sorted(set(predictions) - set(references)):
        raise ValueError(f"{len(unknown)} predictions are for unknown queries, such as {unknown[0]!r}")
    absent = sorted(set(references) - set(predictions))
    if absent and missing == "error":
        raise ValueError(f"{len(absent)} queries have no prediction, such as {absent[0]!r}")
