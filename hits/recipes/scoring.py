"""How answers of models are compared with a release: which of its files have right answers, and how each is scored.

A recipe whose releases models can be compared with has a `Scoring` as `SCORING` among its steps.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Any, BinaryIO

from hits.formats.inputs import labels
from hits.stats.scores import Compared, means
from hits.text.systems import Question, System

# The file of the release with that name, at its beginning.
Open = Callable[[str], BinaryIO]


@dataclass(frozen=True)
class Scoring:
    """`splits` are {file that predictions are compared with: its split}, the usual one first. Where train is the only
    split, baselines are asked about its rows in `folds` parts, each after the others were learned.

    `reasoning` is the stage that labelled items by the reasoning they take, if one did.

    `read(open, file, max_bytes)` gives the rows of a file with their right answers; `predictions(stream, name, rows,
    max_bytes)` what a model answered to each, or raises FormatErrors with each answer that lacks or fits no row;
    `compare(rows, answers)` the scores of each. Rows of which `has_answer` is false are read, but not scored.
    """

    splits: Mapping[str, str]
    read: Callable[[Open, str, int], list[Any]]
    predictions: Callable[[BinaryIO, str, Sequence[Any], int], Sequence[Any]]
    compare: Callable[[Sequence[Any], Sequence[Any]], Compared]
    systems: Callable[[], Sequence[System[Any]]]
    folds: int = 0
    reasoning: str = ""
    has_answer: Callable[[Any], bool] = lambda row: True

    def file_of(self, split: str) -> str:
        """The file whose rows are asked or learned; empty where there is none."""
        return next((file for file, of in self.splits.items() if of == split), "")

    def scored(self, rows: Sequence[Any], answers: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The rows that are scored, and what was answered to them."""
        both = [(row, answer) for row, answer in zip(rows, answers, strict=True) if self.has_answer(row)]
        return [row for row, _ in both], [answer for _, answer in both]


def lines(stream: BinaryIO) -> Iterator[dict[str, Any]]:
    """The rows of a file of JSON Lines of a release."""
    return map(json.loads, stream)


def table(stream: BinaryIO) -> Iterator[dict[str, str]]:
    """The rows of a CSV file of a release."""
    return iter(csv.DictReader(TextIOWrapper(stream, "utf-8-sig", newline="")))


def labels_of(columns: Sequence[str]) -> Callable[[BinaryIO, str, Sequence[Question], int], list[int]]:
    """Reads the numbers of answers by id; see `hits.formats.inputs.labels`."""

    def read(stream: BinaryIO, name: str, rows: Sequence[Question], max_bytes: int) -> list[int]:
        choices = max(len(row.answers) for row in rows)
        said = labels.read(stream, name, columns=columns, choices=choices, max_bytes=max_bytes)
        return labels.of_ids(said, [row.id for row in rows])

    return read


def accuracy(rows: Sequence[Question], answers: Sequence[int]) -> Compared:
    """Of all questions, and by their type where they have one."""
    right = [answer == row.right for row, answer in zip(rows, answers, strict=True)]
    types = [row.type for row in rows]
    return Compared({"accuracy": means(right)}, {"type of question": types} if any(types) else {})
