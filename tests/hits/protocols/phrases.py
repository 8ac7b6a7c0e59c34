"""A story of our own writing with two marked sentences, and a good answer to either part."""

from __future__ import annotations

from typing import Any

DOCUMENT: dict[str, Any] = {
    "text": "Last Sunday I baked bread with my neighbour. We had bought fresh yeast in the village.\n\n"
    "First I put the flour into a bowl next to a bowl of warm water. I mixed everything and waited."
    " After an hour we put the loaf into the oven. It smelled wonderful.",
    "scenario": "baking bread",
}
FIRST = "First I put the flour into a bowl next to a bowl of warm water."
SECOND = "After an hour we put the loaf into the oven."


def item(part: str, marked: list[tuple[str, list[str]]], text: str = DOCUMENT["text"]) -> dict[str, Any]:
    """The item for these sentences of the text with their phrases, each found behind the one before it."""
    targets, number = [], 0
    for sentence, phrases in marked:
        start = at = text.index(sentence)
        found = []
        for phrase in phrases:
            number += 1
            at = text.index(phrase, at)
            found.append({"id": f"p{number}", "start": at, "end": at + len(phrase)})
            at += len(phrase)
        targets.append({"start": start, "end": start + len(sentence), "phrases": found})
    return {"part": part, "targets": targets}


# "a bowl" stands twice in its sentence.
NP = item("np", [(FIRST, ["the flour", "a bowl", "a bowl", "warm water"]), (SECOND, ["the loaf", "into the oven"])])
VP = item("vp", [(FIRST, ["put the flour into a bowl"]), (SECOND, ["put the loaf into the oven"])])
FIELDS = {
    "p1": "What did they measure out first?",
    "p2": "What did they put the flour into?",
    "p3": "What stood beside the flour?",
    "p4": "What was in the other bowl?",
    "p5": "What did they bake in the end?",
    "p6": "Where did they put the loaf?",
}
VP_FIELDS = {
    "p1": "When did they put the flour into a bowl?",
    "p2": "How long did it take before they put the loaf into the oven?",
}
