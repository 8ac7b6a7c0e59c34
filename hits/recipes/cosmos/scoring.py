"""How models are compared with releases of Cosmos QA: accuracy (Huang et al. 2019, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hits.formats import cosmos
from hits.recipes.scoring import Open, Scoring, accuracy, labels_of, lines, table
from hits.text.systems import Question, System

KEY_FILE = "test-key.csv"
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


def _systems() -> Sequence[System[Any]]:
    # They bring a library of models along, which no page needs.
    from hits.text.systems.multiple_choice import COSMOS

    return COSMOS


SCORING = Scoring(
    {KEY_FILE: "test", "valid.jsonl": "dev", "train.jsonl": "train"},
    _read,
    labels_of(("id",)),
    accuracy,
    _systems,
    reasoning="reasoning",
)
