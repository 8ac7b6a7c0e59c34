"""Simple systems that answer the questions of a release, so that a model has something to be compared with.

Each is a function (learned, asked, seed) -> answers: it learns from rows with their right answers, and gives one answer
to each row that is asked, in their order. Rows that are asked have no right answer: see `blank`. The same rows in the
same order and the same seed give the same answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from hits.text.readers import Triple


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a text with some answers to choose from. `right` counts from 0; None where it is asked.
    `group` is the same for questions on one text; `type` is the kind of the question, empty where there is none.
    """

    id: str
    group: str
    text: str
    question: str
    answers: tuple[str, ...]
    right: int | None
    type: str = ""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text with one label of a project's own; None where it is asked. `group` is the same for items on one text,
    `choices` are the labels that it can have.
    """

    id: str
    group: str
    text: str
    right: str | None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tagged:
    """A text with spans (start, end, label) of it, by characters, the end exclusive; None where it is asked."""

    id: str
    group: str
    text: str
    right: tuple[tuple[int, int, str], ...] | None


Row = TypeVar("Row", Triple, Question, Labelled, Tagged)


@dataclass(frozen=True)
class System(Generic[Row]):
    """`source` says where the method comes from. What is answered: a text to a Triple, the number of an answer to a
    Question, a label to a Labelled, spans to a Tagged.
    """

    key: str
    title: str
    source: str
    predict: Callable[[Sequence[Row], Sequence[Row], int], Sequence[Any]]


def blank(row: Row) -> Row:
    """The row as it is asked: without its right answer."""
    if isinstance(row, Triple):
        return replace(row, answers=())
    return replace(row, right=None)
