"""Draws an entity of the passage: what a reader is worth that has read nothing."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from hits.text.readers import Prediction, Triple, by_entity, surface

LABEL = "Random entity"
VERSION = "1"


class RandomReader:
    def __init__(self, seed: int) -> None:
        self._seed = seed

    def fit(self, triples: Iterable[Triple]) -> None:
        """Nothing is learned."""

    def predict(self, triples: Iterable[Triple]) -> Iterator[Prediction]:
        """The draw depends on the seed and the triple's id alone."""
        for triple in triples:
            entities = list(by_entity(triple).values())
            drawn = random.Random(f"reader {self._seed} {triple.id}").choice(entities) if entities else []
            yield Prediction(surface(triple, drawn[0]) if drawn else "", 1 / max(len(entities), 1))


make = RandomReader
