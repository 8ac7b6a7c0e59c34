"""How models are compared with releases of one's own labels: accuracy over the items for which most workers agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

from hits.formats.files.reading import quoted
from hits.formats.inputs import by_id
from hits.recipes.scoring import Open, Scoring, lines
from hits.stats.scores import Compared, means
from hits.text.systems import Labelled, System


def _read(open: Open, file: str, max_bytes: int) -> list[Labelled]:
    """Without an answer where the vote is tied, or nothing or several things were chosen by most."""
    return [
        Labelled(
            row["id"],
            row["text"],
            f"{row['question']}\n{row['text']}",
            row["majority"][0] if len(row["majority"]) == 1 else None,
            tuple(row["votes"]),
        )
        for row in lines(open(file))
    ]


def _predictions(stream: BinaryIO, name: str, rows: Sequence[Labelled], max_bytes: int) -> list[str]:
    """`{id: the text of a choice}`; the number of a choice, such as c1 for the first, is taken too, as other files of a
    release have it.
    """
    given = by_id.read_object(stream, max_bytes=max_bytes)
    predicted = []
    for row in rows:
        if not has_answer(row):
            given.leave_out(row.id)
            predicted.append("")
            continue
        answer = given.take(row.id, "answer")
        by_number = {f"c{number}": text for number, text in enumerate(row.choices, 1)}
        text = by_number.get(answer, answer if answer in row.choices else None) if isinstance(answer, str) else None
        if text is None and answer is not by_id.MISSING:
            given.faults.add(None, quoted(row.id), f"must be one of {', '.join(row.choices)}, not {answer!r:.60}")
        predicted.append(text or "")
    given.refuse("is the id of no item of this file")
    return predicted


def has_answer(row: Labelled) -> bool:
    return row.right is not None


def _compare(rows: Sequence[Labelled], answers: Sequence[Any]) -> Compared:
    return Compared({"accuracy": means([answer == row.right for row, answer in zip(rows, answers, strict=True)])})


def _systems() -> Sequence[System[Any]]:
    # They bring a library of models along, which no page needs.
    from hits.text.systems.labelling import SYSTEMS

    return SYSTEMS


SCORING = Scoring({"items.jsonl": "train"}, _read, _predictions, _compare, _systems, folds=5, has_answer=has_answer)
