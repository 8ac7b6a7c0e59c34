"""A question set of our own writing, and what a worker posts who judges it."""

from __future__ import annotations

from typing import Any

from hits.protocols.choosing import order_of, shuffled

DOCUMENT: dict[str, Any] = {
    "text": "My aunt's parrot never spoke while she was in the room. The week she spent in hospital he learned to say "
    "the vet's telephone number, the weather and a word that nobody admits to having taught him. When she came "
    "home he looked at the ceiling and whistled, and my uncle suddenly had to see to the car."
}
CANDIDATES = [
    {"id": "c0", "text": "The car had broken down in the rain."},
    {"id": "c1", "text": "He did not want to be asked about the word."},
    {"id": "c2", "text": "He is afraid of birds."},
    {"id": "c3", "text": "The vet had called him."},
]
# With this key the worker of the contract suite is shown the order of its preview.
KEY = "parrot"
SET: dict[str, Any] = {
    "question": "Why did my uncle suddenly have to see to the car?",
    "candidates": CANDIDATES,
    "intended": "c1",
    "author": "AWRITER",
    "set": KEY,
}


def order(worker: str, item: dict[str, Any] = SET) -> str:
    return order_of(shuffled(item["candidates"], worker, item["set"]))


def fields(worker: str, **changes: str) -> dict[str, str]:
    """A whole answer that finds nothing wrong and picks the intended candidate."""
    return {
        "paragraph": "good",
        "question": "good",
        "picked": "c1",
        "order": order(worker),
        "needs_common_sense": "yes",
        "needs_context": "yes",
        **changes,
    }
