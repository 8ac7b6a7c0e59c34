"""Triples of invented names: the sentence that answers the query names the answer, beside names said more often."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from hits.text.readers import Mention, Triple

TOWNS = ("Harrow Bay", "Linden", "Port Alder", "Vessel Point", "Carrick", "Old Mill", "Sund", "Tarn Valley")
PEOPLE = ("Ada Holt", "Bram Juel", "Cleo Lund", "Dario Brask", "Edda Corvo", "Femi Garlan", "Gita Eskel", "Hugo Farrow")
DEEDS = (
    "repaired the old bridge before winter",
    "painted eleven boats for the harbour fair",
    "sold bread and honey at the market",
    "counted the seabirds along the cliffs",
    "opened a school for young sailors",
    "lost a purse of silver coins",
    "planted apple trees behind the church",
    "wrote letters about the new ferry",
)


def _marked(parts: list[tuple[str, int, str]]) -> tuple[str, tuple[Mention, ...]]:
    """The text of (name, number of the entity or -1, what follows), with its mentions."""
    text, mentions = "", []
    for name, entity, rest in parts:
        if entity >= 0:
            kind = "PERSON" if name.split()[0] in {each.split()[0] for each in PEOPLE} else "GPE"
            mentions.append(Mention(len(text), len(text) + len(name), entity, kind))
        text += name + rest
    return text, tuple(mentions)


def triple() -> Triple:
    """Ada Holt twice, two towns once each."""
    parts = [("Ada Holt", 0, " left "), ("Linden", 1, ". "), ("Ada Holt", 0, " came to "), ("Sund", 2, ".")]
    text, mentions = _marked(parts)
    return Triple("a1/s0-e2", "a1", text, mentions, len(text), "The people of @placeholder saw Ada Holt.", ("Sund",))


def made(articles: int, queries: int = 1) -> Iterator[Triple]:
    """Triples of articles `a0`, `a1`, ..., so many queries each."""
    for number in range(articles):
        yield from _article(number, queries)


def _article(number: int, queries: int) -> Iterator[Triple]:
    draw = random.Random(f"article {number}")
    people, deeds = draw.sample(PEOPLE, 4), draw.sample(DEEDS, 3)
    often, others = people[0], people[1:]
    town = draw.choice(TOWNS)
    parts = [(often, 0, " walked to "), (town, 4, " in the morning. ")]
    for entity, (name, deed) in enumerate(zip(others, deeds, strict=True), start=1):
        parts += [(name, entity, f" {deed}, "), (often, 0, " said. ")]
    order = list(range(len(others)))
    text, mentions = _marked(parts)
    text += "\n@highlight\nA busy day at the harbour"
    bullets = text.index("\n@highlight")
    draw.shuffle(order)
    for query in range(queries):
        entity = order[query % len(order)]
        asked = f"Everyone was glad that @placeholder {deeds[entity]} that day ({query})."
        answer = others[entity]
        yield Triple(f"a{number}/s{query}-e{entity + 1}", f"a{number}", text, mentions, bullets, asked, (answer,))


def article(number: int) -> dict[str, Any]:
    """The item of an article that names three people; two sentences that follow it ask about one of them each."""
    people = [PEOPLE[(number + at) % len(PEOPLE)] for at in range(3)]
    deeds = [DEEDS[(number * 3 + at) % len(DEEDS)] for at in range(3)]
    text, mentions = "", []
    for entity, (name, deed) in enumerate(zip(people, deeds, strict=True)):
        mentions.append({"start": len(text), "end": len(text) + len(name), "type": "PERSON", "entity": entity})
        text += f"{name} {deed} today. "
    text = text.strip() + f"\n@highlight\n{people[0]} was seen"
    start = text.rindex(people[0])
    mentions.append({"start": start, "end": start + len(people[0]), "type": "PERSON", "entity": 0})
    sentences = []
    for entity in (1, 2):
        before, name = "Neighbours were glad that ", people[entity]
        own = {"start": len(before), "end": len(before) + len(name), "type": "PERSON", "entity": entity}
        sentences.append({"text": f"{before}{name} {deeds[entity]} again.", "dropped": "", "mentions": [own]})
    return {"text": text, "mentions": mentions, "sentences": sentences, "removed": []}
