"""What an answer shares with its context; nothing is learned."""

from __future__ import annotations

from collections.abc import Sequence

from hits.text.language.words import content_words
from hits.text.questions.pairs import Pair

LABEL = "Overlap of words, nothing learned"
VERSION = "1"


class OverlapScorer:
    def __init__(self, seed: int) -> None:
        """Nothing is drawn."""

    def fit(self, pairs: Sequence[Pair], follows: Sequence[bool]) -> None:
        """Nothing is learned."""

    def score(self, pairs: Sequence[Pair]) -> list[float]:
        """0..1; an answer without content words has 0."""
        return [_share(context, answer) for context, answer in pairs]


def _share(context: str, answer: str) -> float:
    own = set(content_words(answer))
    return len(own & set(content_words(context))) / len(own) if own else 0.0


make = OverlapScorer
