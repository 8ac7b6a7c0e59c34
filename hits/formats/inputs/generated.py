"""Files of answers that machines wrote: a paragraph, a question, the system's name and any number of its answers.

Two layouts are read, told apart by their content: CSV (RFC 4180) and JSON Lines. Both have the columns id, context,
question and answer0, answer1 ... (up to answer99), in any order, and if wanted `system`; a system that wrote fewer
answers than others leaves cells blank. A question of several systems has a row for each, with the same id and texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from hits.formats.files.bulk import without_cycle_collection
from hits.formats.files.faults import Faults
from hits.formats.files.reading import (
    MAX_BYTES,
    Progress,
    Row,
    csv_rows,
    first_character,
    json_lines,
    quoted,
    repeated,
    text_lines,
    told,
)
from hits.formats.inputs.cosmos import LONGEST_TEXT

MOST_ANSWERS = 100
# Together they name a document, whose key has 200 characters.
LONGEST_ID, LONGEST_SYSTEM = 150, 40
_TEXTS = ("id", "context", "question")
_ANSWER = re.compile(r"answer(0|[1-9][0-9]?)")
_WHOLE = f"Columns: {', '.join(_TEXTS)}, system (if wanted), answer0 ... answer{MOST_ANSWERS - 1}."


@dataclass(frozen=True, slots=True)
class Generated:
    """What one system answered to one question, verbatim, in the order of the file. `system` is empty without one."""

    key: str
    context: str
    question: str
    system: str
    answers: tuple[str, ...]
    line: int | None = field(default=None, compare=False)


def read(stream: BinaryIO, *, max_bytes: int = MAX_BYTES, progress: Progress | None = None) -> list[Generated]:
    """Every row of the file in UTF-8, or FormatErrors with every fault and no row.

    `progress` is called with the number of rows checked so far, every 1,000 and at the end.
    """
    faults = Faults()
    is_json = first_character(stream) in ("{", "[")
    lines = text_lines(stream, max_bytes, faults)
    with without_cycle_collection():
        rows = json_lines(lines, faults) if is_json else csv_rows(lines, faults, _check_head)
        checker = _Checker(faults)
        found = [checker.checked(line, fields) for line, fields in told(rows, progress)]
    if not found and not faults.count:
        faults.add(None, "", f"the file holds no answer. {_WHOLE}")
    faults.refuse()
    return found


def _check_head(row: Row, names: Sequence[str]) -> bool:
    twice = repeated(names)
    if twice:
        row.say("", f"the first line has {', '.join(map(quoted, twice[:5]))} more than once")
    return not twice


class _Checker:
    """Knows the rows so far: the line of each question and system, and what each question says."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.lines: dict[tuple[str, str], int] = {}
        self.asked: dict[str, tuple[int, int]] = {}

    def checked(self, line: int, fields: Mapping[str, Any]) -> Generated:
        """Its texts are empty where they have a fault."""
        row = Row(self.faults, line)
        _check_names(row, fields)
        longest = {"id": LONGEST_ID, "context": LONGEST_TEXT, "question": LONGEST_TEXT}
        key, context, question = (
            row.text(fields[name], name, longest[name]) if name in fields else "" for name in _TEXTS
        )
        system = row.text(fields["system"], "system", LONGEST_SYSTEM).strip() if "system" in fields else ""
        self._check_once(row, key, system, (context, question))
        return Generated(key, context, question, system, tuple(_answers(row, fields)), line)

    def _check_once(self, row: Row, key: str, system: str, texts: tuple[str, str]) -> None:
        if (key, system) in self.lines:
            of = f" of the system {quoted(system)}" if system else ""
            row.say("id", f"{quoted(key)} is taken: line {self.lines[key, system]} has its answers{of} already")
        line, said = self.asked.setdefault(key, (row.line, hash(texts)))
        if said != hash(texts):
            row.say("question", f"differs in question or context from line {line}, which has the same id")
        self.lines.setdefault((key, system), row.line)


def _check_names(row: Row, fields: Mapping[str, Any]) -> None:
    for name in _TEXTS:
        if name not in fields:
            row.say("", f"the field {name} is missing. {_WHOLE}")
    unknown = [name for name in fields if name not in (*_TEXTS, "system") and not _ANSWER.fullmatch(name)]
    if unknown:
        row.say("", f"unknown field {quoted(unknown[0])}: remove it. {_WHOLE}")


def _answers(row: Row, fields: Mapping[str, Any]) -> Iterator[str]:
    names = sorted((name for name in fields if _ANSWER.fullmatch(name)), key=lambda name: int(name[6:]))
    filled = [name for name in names if not (type(fields[name]) is str and not fields[name].strip())]
    if not filled:
        row.say("", "has no answer: answer0, answer1 ... are blank or missing")
    for name in filled:
        yield row.text(fields[name], name, LONGEST_TEXT)
