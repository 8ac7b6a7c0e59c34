"""How models are compared with releases of ReCoRD: exact match and F1 (Zhang et al. 2018, section 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

from hits.formats.files.reading import kind, quoted
from hits.formats.inputs import by_id, record
from hits.recipes.scoring import Open, Scoring
from hits.stats.scores import Compared, means
from hits.text.figures.squad import exact_match, normalise, token_f1
from hits.text.language.passages import passage_parts
from hits.text.readers import Mention, Triple
from hits.text.systems import System

KEY_FILE = "test-key.json"


def _read(open: Open, file: str, max_bytes: int) -> list[Triple]:
    return [
        triple
        for document in record.read(open(file), max_bytes=max_bytes, default_origin="public")
        for triple in _triples(document)
    ]


def _triples(document: record.Document) -> list[Triple]:
    """Mentions with the same name are of one entity: the file does not say which others are."""
    text = document.text
    numbers: dict[str, int] = {}
    mentions = tuple(
        Mention(start, end + 1, numbers.setdefault(normalise(text[start : end + 1]), len(numbers)))
        for start, end in sorted(document.entities)
    )
    bullets = next((part.start for part in passage_parts(text) if part.kind == "bullet"), len(text))
    return [
        Triple(query.key, document.key, text, mentions, bullets, query.query, tuple(one.text for one in query.answers))
        for query in document.queries
    ]


def _predictions(stream: BinaryIO, name: str, rows: Sequence[Triple], max_bytes: int) -> list[str]:
    """`{query id: answer}`."""
    given = by_id.read_object(stream, max_bytes=max_bytes)
    said = [_text(given, row.id) for row in rows]
    given.refuse("is the id of no query of this file")
    return said


def _text(given: by_id.ById, id: str) -> str:
    said = given.take(id, "answer")
    if isinstance(said, str):
        return said
    if said is not by_id.MISSING:
        given.faults.add(None, quoted(id), f"its answer must be a text, not {kind(said)}")
    return ""


def _compare(rows: Sequence[Triple], answers: Sequence[str]) -> Compared:
    pairs = list(zip(answers, (row.answers for row in rows), strict=True))
    return Compared(
        {
            "exact_match": means([exact_match(*pair) for pair in pairs]),
            "f1": means([token_f1(*pair) for pair in pairs]),
        }
    )


def _systems() -> Sequence[System[Any]]:
    # They bring a library of models along, which no page needs.
    from hits.text.systems.cloze import SYSTEMS

    return SYSTEMS


SCORING = Scoring(
    {KEY_FILE: "test", "dev.json": "dev", "train.json": "train"},
    _read,
    _predictions,
    _compare,
    _systems,
    reasoning="reasoning",
)
