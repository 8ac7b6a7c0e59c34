"""Takes the entity that the passage mentions most often, whatever is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hits.text.readers import Prediction, Triple, most_mentioned, surface

LABEL = "Most frequent entity"
VERSION = "1"


class MostFrequentReader:
    def __init__(self, seed: int) -> None:
        """Nothing is drawn."""

    def fit(self, triples: Iterable[Triple]) -> None:
        """Nothing is learned."""

    def predict(self, triples: Iterable[Triple]) -> Iterator[Prediction]:
        """The score is the entity's share of all mentions."""
        for triple in triples:
            taken = most_mentioned(triple)
            if taken is None:
                yield Prediction("", 0.0)
                continue
            times = sum(mention.entity == taken.entity for mention in triple.mentions)
            yield Prediction(surface(triple, taken), times / len(triple.mentions))


make = MostFrequentReader
