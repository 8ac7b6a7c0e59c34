"""How models are compared with releases of Cosmos QA: accuracy, or the words of written answers (Huang et al. 2019)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, BinaryIO, cast

import numpy as np

from hits.formats.inputs import by_id, cosmos
from hits.recipes.scoring import Open, Scoring, accuracy, labels_of, lines, table
from hits.stats.scores import Compared
from hits.text.figures.generated_answers import compared
from hits.text.systems import Question, System

KEY_FILE = "test-key.csv"
# JSON whose first value is a text, and no number within quotation marks.
_WRITTEN = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*"(?!\s*[0-9]{1,3}\s*")')
_HEAD = 4096
# How the text of an answer begins that says that no other one is right.
NONE = "none of the above"
PUBLISHED = {"train": "train", "dev": "valid", "test": "test"}


def _read(open: Open, file: str, max_bytes: int) -> list[Question]:
    """The labels of test stand in a file of their own."""
    asked = "test.jsonl" if file == KEY_FILE else file
    labels = {row["id"]: int(row["label"]) for row in table(open(file))} if file == KEY_FILE else {}
    return [
        Question(
            row["id"],
            row["context"],
            row["context"],
            row["question"],
            tuple(row[name] for name in cosmos.ANSWERS),
            labels[row["id"]] if labels else row["label"],
        )
        for row in lines(open(asked))
    ]


def _predictions(stream: BinaryIO, name: str, rows: Sequence[Question], max_bytes: int) -> list[int] | list[str]:
    """Labels by id, or `{id: written answer}` of a model that writes its answer (section 5.3 of the paper)."""
    head = stream.read(_HEAD)
    stream.seek(0)
    if not _WRITTEN.match(head):
        return labels_of(("id",))(stream, name, rows, max_bytes)
    given = by_id.read_object(stream, max_bytes=max_bytes)
    said = [given.take(row.id, "answer") for row in rows]
    given.refuse("is the id of no question of this file")
    return [text if isinstance(text, str) else "" for text in said]


def _compare(rows: Sequence[Question], answers: Sequence[int] | Sequence[str]) -> Compared:
    """The accuracy of labels; of written answers how near they come to the right one, where it is one."""
    if not answers or not isinstance(answers[0], str):
        return accuracy(rows, cast(Sequence[int], answers))
    right = [row.answers[row.right or 0] for row in rows]
    asked = np.array([float(not text.casefold().startswith(NONE)) for text in right])
    found = [compared(str(said), text) for said, text in zip(answers, right, strict=True)]
    return Compared({name: (asked * [each[name] for each in found], asked) for name in found[0]})


def _systems() -> Sequence[System[Any]]:
    # They bring a library of models along, which no page needs.
    from hits.text.systems.multiple_choice import COSMOS

    return COSMOS


SCORING = Scoring(
    {KEY_FILE: "test", "valid.jsonl": "dev", "train.jsonl": "train"},
    _read,
    _predictions,
    _compare,
    _systems,
    reasoning="reasoning",
)
