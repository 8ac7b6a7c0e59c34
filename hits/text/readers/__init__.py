"""Readers that answer cloze queries about passages: one module each, found by name.

`make(seed) -> Reader` of a module makes a reader that has learned nothing yet. See `hits.text.plugins`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from hits.text.plugins import Kind

READERS = Kind("hits.text.readers")


class Mention(NamedTuple):
    """passage[start:end], the end exclusive; mentions of one entity have one number. `type` is empty if unknown."""

    start: int
    end: int
    entity: int
    type: str = ""


@dataclass(frozen=True, slots=True)
class Triple:
    """A passage, a query with @placeholder once, and the texts that answer it.

    `id` is unique; triples with one `article` have one passage and follow one another. `mentions` are in the order of
    the passage; bullets begin at the offset `bullets`, which is the passage's length where there are none.
    """

    id: str
    article: str
    text: str
    mentions: tuple[Mention, ...]
    bullets: int
    query: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prediction:
    """The answer to one query. A higher `score` means a surer reader; scores of two readers do not compare."""

    text: str
    score: float


class Reader(Protocol):
    """Fitted once, then asked once. The same triples in the same order and the same seed give the same predictions."""

    def fit(self, triples: Iterable[Triple]) -> None:
        """Learn from triples. They can be gone through any number of times, and need not fit into memory."""

    def predict(self, triples: Iterable[Triple]) -> Iterator[Prediction]:
        """One prediction a triple, in their order. Nothing may be read from their `answers`."""


def by_entity(triple: Triple) -> dict[int, list[Mention]]:
    """The mentions of each entity, in the order in which the passage first mentions them."""
    found: dict[int, list[Mention]] = {}
    for mention in triple.mentions:
        found.setdefault(mention.entity, []).append(mention)
    return found


def surface(triple: Triple, mention: Mention) -> str:
    return triple.text[mention.start : mention.end]


def most_mentioned(triple: Triple) -> Mention | None:
    """The first mention of the entity with the most; of several such, of the one that comes first. None: no mention."""
    counted = Counter(mention.entity for mention in triple.mentions)
    return max(triple.mentions, key=lambda mention: (counted[mention.entity], -mention.start), default=None)
