"""Takes the answer for correct whose words the text has; nothing is learned."""

from __future__ import annotations

from collections.abc import Sequence

from hits.text.filtering.filtered_question import FilteredQuestion
from hits.text.language.words import content_words

LABEL = "Overlap of words, nothing learned"
VERSION = "1"


class OverlapClassifier:
    def __init__(self, questions: Sequence[FilteredQuestion]) -> None:
        texts = {one.text_key: frozenset(content_words(one.text)) for one in questions}
        self._scores = [
            [_share(answer, texts[one.text_key]) for answer in (one.correct, *one.incorrect)] for one in questions
        ]

    def fit(self, questions: Sequence[int], assigned: Sequence[int]) -> None:
        """Nothing is learned."""

    def scores(self, questions: Sequence[int]) -> list[list[float]]:
        return [self._scores[at] for at in questions]


def _share(answer: str, text: frozenset[str]) -> float:
    own = set(content_words(answer))
    return len(own & text) / len(own) if own else 0.0


make = OverlapClassifier
