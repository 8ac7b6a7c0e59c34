"""An article's item as it is stored: a passage, two sentences of the rest, and one query."""

from __future__ import annotations

from typing import Any

from hits.text.questions.passage_queries import Rule, judged

TEXT = (
    "Ruth Pascoe hung a camera under a bridge near Plymouth.\n@highlight\nOtters filmed near Plymouth\n@highlight\n"
    "Ruth Pascoe will speak in schools"
)


def mention(text: str, words: str, entity: int | None, type: str, nth: int = 0) -> dict[str, Any]:
    at = -1
    for _ in range(nth + 1):
        at = text.index(words, at + 1)
    return {"start": at, "end": at + len(words), "type": type, "entity": entity}


SOLD = "A shop in Plymouth sells biscuits in the shape of the animal, and gives half the price away."
SAID = "In London a minister has read about it, and has asked for the pictures."
DOCUMENT = {"title": "Otters", "paragraphs": [TEXT.split("\n")[0], SOLD, SAID], "highlights": [], "source": "Ours"}
ITEM: dict[str, Any] = judged(
    {
        "text": TEXT,
        "mentions": [
            mention(TEXT, "Ruth Pascoe", 0, "PERSON"),
            mention(TEXT, "Plymouth", 1, "GPE"),
            mention(TEXT, "Plymouth", 1, "GPE", nth=1),
            mention(TEXT, "Ruth Pascoe", 0, "PERSON", nth=1),
        ],
        "sentences": [
            {"text": SOLD, "dropped": "", "mentions": [mention(SOLD, "Plymouth", 1, "GPE")]},
            {"text": SAID, "dropped": "", "mentions": [mention(SAID, "London", None, "GPE")]},
        ],
        "removed": [],
    },
    Rule(),
)
