"""Examples of ReCoRD's size in any number, deterministic, made of invented names and plain words."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

FIRST = [
    "Ada",
    "Bram",
    "Cleo",
    "Dario",
    "Edda",
    "Femi",
    "Gita",
    "Hugo",
    "Ines",
    "Jovan",
    "Kaia",
    "Lior",
    "Mina",
    "Noor",
]
LAST = ["Aldana", "Brask", "Corvo", "Dunmore", "Eskel", "Farrow", "Garlan", "Holt", "Ibarra", "Juel", "Kestrel", "Lund"]
PLACES = ["Harrow Bay", "Linden", "Port Alder", "Vessel Point", "Carrick", "Old Mill", "Sund", "Tarn Valley"]
WORDS = """
the harbour council said on a grey morning that repairs to an old bridge would begin before winter while boats waited
near a quay and people talked about prices schools and weather over bread and coffee in small rooms
""".split()  # noqa: SIM905 (a line of words reads better than a list)


def examples(count: int, seed: int = 1) -> Iterator[str]:
    """JSON lines of about 1.7 kB: 170 words, 18 mentions, one query."""
    for number in range(count):
        yield json.dumps(_example(number, random.Random(f"{seed}:{number}")))


def _example(number: int, draw: random.Random) -> dict:
    names = [f"{draw.choice(FIRST)} {draw.choice(LAST)}" for _ in range(5)] + draw.sample(PLACES, 3)
    parts: list[str] = []
    entities = []
    length = 0
    for sentence in range(18):
        words = " ".join(draw.choices(WORDS, k=draw.randint(7, 10)))
        lead = "\n@highlight\n" if sentence >= 15 else ("" if not parts else " ")
        name = draw.choice(names)
        start = length + len(lead)
        entities.append({"start": start, "end": start + len(name) - 1})
        text = f"{lead}{name} {words}."
        parts.append(text)
        length += len(text)
    passage = "".join(parts)
    target = entities[draw.randrange(len(entities))]
    surface = passage[target["start"] : target["end"] + 1]
    answers = [{**span, "text": surface} for span in entities if passage[span["start"] : span["end"] + 1] == surface]
    query = f"Later that week @placeholder {' '.join(draw.choices(WORDS, k=14))}."
    return {
        "id": f"d{number}",
        "source": "synthetic",
        "passage": {"text": passage, "entities": entities},
        "qas": [{"id": f"d{number}-q", "query": query, "answers": answers}],
    }
