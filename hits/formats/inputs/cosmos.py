"""Cosmos QA files: a paragraph, a question and four answers, one of which is the correct one.

Two layouts are read, told apart by their content: CSV (RFC 4180: commas, quoted cells may hold commas, doubled
quotes and line ends) and JSON Lines. Both have the columns id, context, question, answer0 to answer3 and label,
the number of the correct answer, in any order. Line ends within a cell of a CSV file are read as line feeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, BinaryIO

from hits.formats.files.bulk import without_cycle_collection
from hits.formats.files.faults import Fault, Faults, FormatErrors
from hits.formats.files.reading import (
    LONGEST_KEY,
    MAX_BYTES,
    Keys,
    Progress,
    Row,
    csv_rows,
    first_character,
    json_lines,
    kind,
    quoted,
    repeated,
    text_lines,
    told,
)

__all__ = ["ANSWERS", "COLUMNS", "Fault", "FormatErrors", "QuestionSet", "read"]

ANSWERS = ("answer0", "answer1", "answer2", "answer3")
COLUMNS = ("id", "context", "question", *ANSWERS, "label")
LONGEST_TEXT = 5000
# A first line that names columns is far shorter, a first row of JSON Lines may hold four answers and a context.
LONGEST_HEAD = 65_536
_LABELS = {str(number): number for number in range(len(ANSWERS))}
# What files write where the correct answer is kept back.
_NO_LABEL = (None, "", "-1", -1)
_WHOLE = f"Columns: {', '.join(COLUMNS)}."


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """One question with its four answers, verbatim, in the order of the file; `answers[label]` is the correct one.

    `line` says where it was read and `place` is always empty: both take no part in comparison.
    """

    key: str
    context: str
    question: str
    answers: tuple[str, ...]
    label: int
    line: int | None = field(default=None, compare=False)
    place: str = field(default="", compare=False)


def columns_of(stream: BinaryIO) -> frozenset[str]:
    """The columns that the first row names, empty for any other kind of file; the stream stays where it is."""
    at = stream.tell()
    head = stream.read(LONGEST_HEAD).decode(errors="replace").removeprefix("\ufeff").lstrip()
    stream.seek(at)
    line = head.partition("\n")[0]
    if line.startswith("{"):
        return frozenset(name for name in COLUMNS if f'"{name}"' in line)
    return frozenset(name.strip(' "\r') for name in line.split(",")) & frozenset(COLUMNS)


def read(stream: BinaryIO, *, max_bytes: int = MAX_BYTES, progress: Progress | None = None) -> list[QuestionSet]:
    """Every question set of the file in UTF-8, or FormatErrors with every fault and no question set.

    A file without labels, such as a test part whose correct answers are kept back, is refused.
    `progress` is called with the number of rows checked so far, every 1,000 and at the end.
    """
    faults = Faults()
    is_json = first_character(stream) in ("{", "[")
    lines = text_lines(stream, max_bytes, faults)
    with without_cycle_collection():
        rows = _json_rows(lines, faults) if is_json else csv_rows(lines, faults, _check_head)
        checker = _Checker(faults)
        sets = [checker.question_set(line, fields) for line, fields in told(rows, progress)]
        checker.check_labels()
    if not sets and not faults.count:
        faults.add(None, "", f"the file holds no question. {_WHOLE}")
    faults.refuse()
    return sets


# From bytes to rows


def _json_rows(lines: Iterable[str], faults: Faults) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, fields in json_lines(lines, faults):
        Row(faults, line).check_names(fields, COLUMNS[:-1], ("label",))
        yield line, fields


def _check_head(row: Row, names: Sequence[str]) -> bool:
    """Where the head names nothing known, no row is read."""
    missing = [name for name in COLUMNS[:-1] if name not in names]
    unknown = [quoted(name) for name in names if name not in COLUMNS]
    twice = repeated(names)
    if missing:
        row.say("", f"the first line lacks {', '.join(missing)}. {_WHOLE}")
    if unknown:
        row.say("", f"the first line has columns that mean nothing here: {', '.join(unknown[:5])}. {_WHOLE}")
    if twice:
        row.say("", f"the first line has {', '.join(map(quoted, twice[:5]))} more than once")
    return not set(names).isdisjoint(COLUMNS)


# From rows to question sets


class _Checker:
    """Turns rows into question sets; knows the keys seen so far and the rows that have no label."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.keys = Keys()
        self.count = 0
        self.unlabelled: list[int] = []

    def question_set(self, line: int, fields: dict[str, Any]) -> QuestionSet:
        """Its texts are empty and its label 0 where they have a fault. A field that is absent was named before."""
        self.count += 1
        row = Row(self.faults, line)
        texts = {
            name: row.text(fields[name], name, LONGEST_KEY if name == "id" else LONGEST_TEXT) if name in fields else ""
            for name in COLUMNS[:-1]
        }
        self.keys.check(row, texts["id"])
        answers = tuple(texts[name] for name in ANSWERS)
        label = self.label(row, fields.get("label"))
        _check_equal(row, answers, label)
        return QuestionSet(texts["id"], texts["context"], texts["question"], answers, label or 0, line)

    def label(self, row: Row, value: object) -> int | None:
        if type(value) is str:
            value = value.strip()
        if value in _NO_LABEL:
            self.unlabelled.append(row.line)
            return None
        label = _LABELS.get(str(value)) if type(value) in (int, str) else None
        if label is None:
            shown = quoted(value) if type(value) in (int, str) else kind(value)
            row.say("label", f"must be the number of the correct answer, 0 to {len(ANSWERS) - 1}, not {shown}")
        return label

    def check_labels(self) -> None:
        """One fault for a file that has no labels at all, and one for each row that lacks what other rows have."""
        if self.unlabelled and len(self.unlabelled) == self.count:
            self.faults.add(
                None,
                "label",
                "no row has a label: this looks like a test part whose correct answers are kept back;"
                " take a part that has them, such as train or dev",
            )
            return
        for line in self.unlabelled:
            self.faults.add(line, "label", "is missing, though other rows have one: give the correct answer, 0 to 3")


def _check_equal(row: Row, answers: Sequence[str], label: int | None) -> None:
    """Answers are the same when case and space do not tell them apart: a worker could not tell them apart either."""
    said = [" ".join(answer.casefold().split()) for answer in answers]
    if len(set(said)) == len(said):
        return
    for i, j in combinations(range(len(said)), 2):
        if said[i] and said[i] == said[j]:
            wrong, other = (i, j) if j == label else (j, i)
            what = f"the correct answer, {ANSWERS[other]}" if other == label else ANSWERS[other]
            row.say(ANSWERS[wrong], f"is the same as {what}: the answers of a question must differ")
