"""How models are compared with releases of marked texts: F1 over spans that have the same bounds and label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np

from hits.formats.files.reading import quoted
from hits.formats.inputs import by_id
from hits.recipes.scoring import Open, Scoring, lines
from hits.stats.scores import Compared
from hits.text.systems import System, Tagged


def _read(open: Open, file: str, max_bytes: int) -> list[Tagged]:
    return [
        Tagged(
            row["id"], row["id"], row["text"], tuple((one["start"], one["end"], one["label"]) for one in row["spans"])
        )
        for row in lines(open(file))
    ]


def _predictions(stream: BinaryIO, name: str, rows: Sequence[Tagged], max_bytes: int) -> list[list[tuple[Any, ...]]]:
    """`{id: [{"start", "end", "label"}]}`."""
    given = by_id.read_object(stream, max_bytes=max_bytes)
    said = [_spans(given, row.id) for row in rows]
    given.refuse("is the id of no text of this file")
    return said


def _spans(given: by_id.ById, id: str) -> list[tuple[Any, ...]]:
    said = given.take(id, "spans")
    if said is by_id.MISSING:
        return []
    try:
        return [(int(one["start"]), int(one["end"]), str(one["label"])) for one in said]
    except (TypeError, KeyError, ValueError, OverflowError):
        given.faults.add(None, quoted(id), "its spans must be a list of objects with start, end and label")
        return []


def _compare(rows: Sequence[Tagged], answers: Sequence[Sequence[tuple[Any, ...]]]) -> Compared:
    """Of each text, twice the spans that both have, divided by those of both sides."""
    pairs = [(set(row.right or ()), set(map(tuple, answer))) for row, answer in zip(rows, answers, strict=True)]
    common = np.array([2.0 * len(right & said) for right, said in pairs])
    return Compared({"f1": (common, np.array([float(len(right) + len(said)) for right, said in pairs]))})


def _systems() -> Sequence[System[Any]]:
    # They bring a library of models along, which no page needs.
    from hits.text.systems.tagging import SYSTEMS

    return SYSTEMS


SCORING = Scoring({"spans.jsonl": "train"}, _read, _predictions, _compare, _systems, folds=5)
