"""How models are compared with releases of MCScript2.0: accuracy, by type of question too (Ostermann et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hits.recipes.scoring import Open, Scoring, accuracy, labels_of, lines, table
from hits.text.systems import Question, System

KEY_FILE = "test-key.csv"
KEY_COLUMNS = ("id", "question_id", "label")


def _read(open: Open, file: str, max_bytes: int) -> list[Question]:
    """The labels of test stand in a file of their own."""
    is_key = file == KEY_FILE
    labels = {(row["id"], row["question_id"]): int(row["label"]) for row in table(open(file))} if is_key else {}
    return [
        Question(
            f"{row['id']}/{row['question_id']}",
            row["id"],
            row["text"],
            row["question"],
            (row["answer0"], row["answer1"]),
            labels[row["id"], row["question_id"]] if is_key else row["label"],
            row["type"],
        )
        for row in lines(open("test.jsonl" if is_key else file))
    ]


def _systems() -> Sequence[System[Any]]:
    # They bring a library of models along, which no page needs.
    from hits.text.systems.multiple_choice import MCSCRIPT

    return MCSCRIPT


SCORING = Scoring(
    {KEY_FILE: "test", "dev.jsonl": "dev", "train.jsonl": "train"},
    _read,
    labels_of(KEY_COLUMNS[:-1]),
    accuracy,
    _systems,
)
