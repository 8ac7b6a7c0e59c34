"""Texts with a question and answers to choose from, in tables that a spreadsheet or a script writes.

Each row has an id and a text and, where wanted, a question, choices and gold. Choices stand in the columns choice1 to
choice20, or in one column: a JSON list or texts parted by bars. Question and choices that a row lacks are those of the
task. `gold` is a choice's text or number, or several in the same way. What else a row has is kept as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from hits.formats.files.faults import Faults
from hits.formats.files.mapping import MappedRow, Table, TableField, mapped_rows
from hits.formats.files.reading import LONGEST_KEY, MAX_BYTES, Keys, Progress
from hits.text.spellings import meant

MOST_CHOICES = 20
LONGEST_TEXT = 50_000
LONGEST_QUESTION = 1000
LONGEST_CHOICE = 500
CHOICES = tuple(f"choice{number}" for number in range(1, MOST_CHOICES + 1))
TABLE = Table(
    TableField("id", "A name of the row that no other row of the project has", needed=True),
    TableField("text", "What workers read", needed=True),
    TableField("question", "What they are asked about it; where empty, the question of the task"),
    TableField("choices", "All choices in one column: a JSON list, or parted by bars; where empty, those of the task"),
    *(TableField(name, f"Choice {number}, in a column of its own") for number, name in enumerate(CHOICES, 1)),
    TableField("gold", "The right choice, by its text or number; several are parted by bars"),
)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class ChoiceTask:
    """One row. `question` and `choices` are empty where the task's own are meant; `gold` are texts of right choices.

    `unused` has the cells of the columns that are no field.
    """

    key: str
    text: str
    question: str = ""
    choices: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()
    line: int | None = field(default=None, compare=False)
    unused: Mapping[str, str] = field(default_factory=dict)


def read(
    stream: BinaryIO,
    *,
    name: str = "",
    max_bytes: int = MAX_BYTES,
    progress: Progress | None = None,
    mapping: Mapping[str, str] | None = None,
) -> list[ChoiceTask]:
    """Every row of the file, or FormatErrors with every fault and no row. `mapping` is the file's column by field."""
    faults, keys = Faults(), Keys()
    rows = mapped_rows(stream, TABLE, faults, name=name, max_bytes=max_bytes, mapping=mapping, progress=progress)
    tasks = [_task(row, keys) for row in rows]
    faults.refuse()
    return tasks


def _task(row: MappedRow, keys: Keys) -> ChoiceTask:
    given = row.fields
    key = row.text(given["id"].strip(), "id", LONGEST_KEY)
    keys.check(row, key)
    text = row.text(given["text"], "text", LONGEST_TEXT)
    question = given["question"].strip()
    question = row.text(question, "question", LONGEST_QUESTION) if question else ""
    by_name = _choices(row)
    choices = tuple(by_name.values())
    return ChoiceTask(key, text, question, choices, _gold(row, by_name), row.line, row.unused)


def _choices(row: MappedRow) -> dict[str, str]:
    """The choices by their names, choice1 and so on; a list is counted from 1."""
    found = {name: row.fields[name].strip() for name in CHOICES if row.fields[name].strip()}
    listed = _listed(row.fields["choices"])
    if listed and found:
        row.say("choices", f"are given together with {next(iter(found))}: leave one of the two empty")
    places = {name: name for name in found}
    if listed:
        texts = [row.text(one, f"choices[{i}]", LONGEST_CHOICE) for i, one in enumerate(listed[:MOST_CHOICES])]
        found = {name: text.strip() for name, text in zip(CHOICES, texts, strict=False)}
        places = {name: f"choices[{i}]" for i, name in enumerate(found)}
    else:
        found = {name: row.text(text, name, LONGEST_CHOICE) for name, text in found.items()}
    count = len(listed) or len(found)
    if count == 1 or count > MOST_CHOICES:
        row.say("choices", f"are {count:,}: give 2 to {MOST_CHOICES}, or none, and the task's own are asked")
    _refuse_alike(row, found, places)
    return found


def _refuse_alike(row: MappedRow, choices: Mapping[str, str], places: Mapping[str, str]) -> None:
    seen: dict[str, str] = {}
    for name, text in choices.items():
        plain = _SPACE.sub(" ", text.casefold()).strip()
        if plain and plain in seen:
            place = row.column(places[seen[plain]])
            row.say(places[name], f"is the same as {place}: workers could not tell them apart")
        seen.setdefault(plain, name)


def _listed(cell: str) -> list[object]:
    """What a cell holds as a JSON list, or the texts between its bars."""
    if cell.lstrip().startswith("["):
        try:
            found = json.loads(cell)
        except (ValueError, RecursionError):
            # It begins with a bracket and is a text.
            pass
        else:
            return list(found) if isinstance(found, list) else []
    return [part.strip() for part in cell.split("|") if part.strip()]


def _gold(row: MappedRow, choices: Mapping[str, str]) -> tuple[str, ...]:
    """As texts of the choices, of which a number or a name is one too. Where the row has none, the task's are meant."""
    spelled = [(name, text, name.removeprefix("choice")) for name, text in choices.items()]
    whole = row.fields["gold"].strip()
    found = []
    for one in [whole] if whole in choices.values() else _listed(whole):
        said = str(one) if type(one) is int else one
        if isinstance(said, str) and (name := meant(said, spelled)):
            said = choices[name]
        if not isinstance(said, str) or (choices and said not in choices.values()):
            row.say("gold", f"{one!r:.60} is none of the row's choices: write a choice's text or number")
        else:
            found.append(said)
    return tuple(dict.fromkeys(found))
