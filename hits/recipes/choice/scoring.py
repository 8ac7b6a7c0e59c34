"""How models are compared with releases of one's own labels: accuracy over the items for which most workers agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

from hits.formats.inputs import by_id
from hits.recipes.scoring import Open, Scoring, lines
from hits.stats.scores import Compared, means
from hits.text.systems import Labelled, System


def _read(open: Open, file: str, max_bytes: int) -> list[Labelled]:
    return [
        Labelled(row["id"], row["text"], f"{row['question']}\n{row['text']}", row["majority"][0])
        for row in lines(open(file))
        if len(row["majority"]) == 1
    ]


def _predictions(stream: BinaryIO, name: str, rows: Sequence[Labelled], max_bytes: int) -> list[Any]:
    """`{id: the text of a choice}`."""
    given = by_id.read_object(stream, max_bytes=max_bytes)
    said = [given.take(row.id, "answer") for row in rows]
    given.refuse("is the id of no item of this file")
    return said


def _compare(rows: Sequence[Labelled], answers: Sequence[Any]) -> Compared:
    return Compared({"accuracy": means([answer == row.right for row, answer in zip(rows, answers, strict=True)])})


def _systems() -> Sequence[System[Any]]:
    # They bring a library of models along, which no page needs.
    from hits.text.systems.labelling import SYSTEMS

    return SYSTEMS


SCORING = Scoring({"items.jsonl": "train"}, _read, _predictions, _compare, _systems, folds=5)
