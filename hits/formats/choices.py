"""Texts with a question and answers to choose from, in files that a spreadsheet or a script writes.

Two layouts are read, told apart by their content. CSV (commas, semicolons or tabs) has the columns id and text, and,
where wanted, question, choice1 to choice20 and gold. JSON Lines has the same fields, with `choices` as a list of texts.
Question and choices that a row lacks are those of the task. `gold` is a choice's text or number, or several, parted by
bars (CSV) or in a list (JSON Lines).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from hits.formats.faults import Faults
from hits.formats.reading import (
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

MOST_CHOICES = 20
LONGEST_TEXT = 50_000
LONGEST_QUESTION = 1000
LONGEST_CHOICE = 500
NEEDED = ("id", "text")
CHOICES = tuple(f"choice{number}" for number in range(1, MOST_CHOICES + 1))
_WHOLE = f"Columns: {', '.join(NEEDED)}, and, if you like, question, choice1 to choice{MOST_CHOICES}, gold."
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class ChoiceTask:
    """One row. `question` and `choices` are empty where the task's own are meant; `gold` are texts of right choices."""

    key: str
    text: str
    question: str = ""
    choices: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()
    line: int | None = field(default=None, compare=False)


def read(stream: BinaryIO, *, max_bytes: int = MAX_BYTES, progress: Progress | None = None) -> list[ChoiceTask]:
    """Every row of the file in UTF-8, or FormatErrors with every fault and no row."""
    faults = Faults()
    is_json = first_character(stream) in ("{", "[")
    lines = text_lines(stream, max_bytes, faults)
    rows = _json_rows(lines, faults) if is_json else _csv_rows(lines, faults)
    keys = Keys()
    tasks = [_task(Row(faults, line), keys, fields) for line, fields in told(rows, progress)]
    if not tasks and not faults.count:
        faults.add(None, "", f"the file holds no row. {_WHOLE}")
    faults.refuse()
    return tasks


def _json_rows(lines: Iterable[str], faults: Faults) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, fields in json_lines(lines, faults):
        Row(faults, line).check_names(fields, NEEDED, ("question", "choices", "gold"))
        yield line, {**fields, "gold": _listed(fields.get("gold"))}


def _listed(value: Any) -> Any:
    """One gold answer as a list of one."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _csv_rows(lines: Iterable[str], faults: Faults) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, cells in csv_rows(lines, faults, _check_head):
        yield line, _fields(cells)


def _check_head(row: Row, names: Sequence[str]) -> bool:
    missing = [name for name in NEEDED if name not in names]
    unknown = [quoted(name) for name in names if name not in (*NEEDED, "question", *CHOICES, "gold")]
    twice = [quoted(name) for name in repeated(names)]
    for what, found in (("lacks", missing), ("has columns that mean nothing here:", unknown), ("repeats", twice)):
        if found:
            row.say("", f"the first line {what} {', '.join(found[:5])}. {_WHOLE}")
    return not missing


def _fields(cells: Mapping[str, str]) -> dict[str, Any]:
    """A row of cells as the object that JSON Lines would hold; a number names the column of a choice."""
    choices = {name: cells[name].strip() for name in CHOICES if cells.get(name, "").strip()}
    gold = [part.strip() for part in cells.get("gold", "").split("|") if part.strip()]
    by_number = {name.removeprefix("choice"): text for name, text in choices.items()}
    return {
        "id": cells["id"].strip(),
        "text": cells["text"],
        "question": cells.get("question", "").strip(),
        "choices": list(choices.values()),
        "gold": [one if one in choices.values() else by_number.get(one, choices.get(one, one)) for one in gold],
    }


def _task(row: Row, keys: Keys, fields: Mapping[str, Any]) -> ChoiceTask:
    key = row.text(_key(fields["id"]), "id", LONGEST_KEY) if "id" in fields else ""
    keys.check(row, key)
    text = row.text(fields["text"], "text", LONGEST_TEXT) if "text" in fields else ""
    question = row.text(fields["question"], "question", LONGEST_QUESTION) if fields.get("question") else ""
    choices = _choices(row, fields.get("choices") or [])
    return ChoiceTask(key, text, question, choices, _gold(row, fields["gold"], choices), row.line)


def _key(value: object) -> object:
    """A whole number as the text that a CSV file would hold."""
    return str(value) if type(value) is int else value


def _choices(row: Row, given: object) -> tuple[str, ...]:
    if not isinstance(given, list):
        row.say("choices", f"must be a list of texts, not {kind(given)}")
        return ()
    if given and not 2 <= len(given) <= MOST_CHOICES:
        row.say("choices", f"are {len(given):,}: give 2 to {MOST_CHOICES}, or none, and the task's own are asked")
    found = tuple(row.text(one, f"choices[{i}]", LONGEST_CHOICE) for i, one in enumerate(given[:MOST_CHOICES]))
    said = [_SPACE.sub(" ", one.casefold()).strip() for one in found]
    for i, one in enumerate(said):
        if one and one in said[:i]:
            row.say(f"choices[{i}]", f"is the same as choices[{said.index(one)}]: workers could not tell them apart")
    return found


def _gold(row: Row, given: Sequence[object], choices: Sequence[str]) -> tuple[str, ...]:
    """As texts of the choices; a number counts them from 1. Where the row has no choices, the task's are meant."""
    found = []
    for one in given:
        if type(one) is int and 1 <= one <= len(choices):
            found.append(choices[one - 1])
        elif not isinstance(one, str) or (choices and one not in choices):
            row.say("gold", f"{one!r:.60} is none of the row's choices: write a choice's text or number")
        else:
            found.append(one)
    return tuple(dict.fromkeys(found))
