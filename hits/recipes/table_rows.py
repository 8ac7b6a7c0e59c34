"""Steps of recipes with one stage, where a row of a table is an item and the votes of each item are released.

All columns of the table are kept, whether the task names them or not, and come out again.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, BinaryIO

from hits.formats.files import rows
from hits.formats.files.faults import Fault, Faults, FormatErrors
from hits.formats.files.mapping import MappingRefusedError, Table, TableField, kept_names
from hits.formats.files.reading import LONGEST_KEY, Keys, Row
from hits.formats.outputs.tables import Type, write_all, write_jsonl
from hits.protocols.columns import columns_of
from hits.recipes.source import (
    MODEL,
    Collected,
    GivenLabel,
    Json,
    JudgedItem,
    NextItem,
    ReleaseContent,
    SourceDocument,
    SourceItem,
    ToldItem,
)
from hits.stats.majority import majority_of
from hits.text.cells import as_text

ID = "id"
TABLE = Table(
    TableField(
        ID, "A name of the row that no other row of the project has; without one it is named after what it says"
    ),
    open=True,
)
COLUMNS = ("id", "columns", "answers", "conclusion", "votes", "majority", "mean")
ANSWER_COLUMNS = ("id", "worker", "labels", "correct")
ANNOTATIONS = "annotations.parquet"
ANNOTATION_TYPES: dict[str, Type] = {
    "id": "string",
    "unit": "string",
    "value": "string",
    "correct": "bool",
    "worker": "string",
}
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})
DROPPED, OPEN = "dropped by the rule", "answers are missing"
# A column that only a release has in which models decided an item.
DECIDED_BY, PEOPLE = "decided_by", "people"
ABOUT_MODELS = (
    f"`{DECIDED_BY}` is `{PEOPLE}`, or the model that decided the item without an answer of people: then `majority` is "
    "what the model says, and there are no votes and no answers."
)


# Import


def read_documents(
    stream: BinaryIO,
    *,
    name: str = "",
    max_bytes: int,
    default_origin: str,
    progress: Callable[[int], None] | None = None,
    seed: int = 0,
    options: Mapping[str, Any] = NO_OPTIONS,
    mapping: Mapping[str, str] | None = None,
) -> list[SourceDocument]:
    """One document with one item a row; see `hits.formats.files.rows`. Raises FormatErrors with every fault.

    `mapping` is the file's column by the name under which the task reads it; other columns keep their names.
    """
    faults = Faults()
    keys, seen = Keys(), dict[str, int]()
    found = []
    with rows.opened(stream, name, max_bytes=max_bytes) as table:
        names = _names(table.columns, TABLE.guess(table.columns) if mapping is None else mapping)
        named = any(ID in kept for kept in names.values()) and (mapping is None or ID in mapping)
        for line, cells in table.rows(faults, progress):
            columns = {kept: cells[column] for column in table.columns for kept in names[column]}
            row = Row(faults, line)
            key = row.text(columns[ID].strip(), ID, LONGEST_KEY) if named else _key(row, cells, seen)
            keys.check(row, key)
            found.append(SourceDocument(key, default_origin, {"columns": columns}, (SourceItem(key, {}),), line))
    faults.refuse()
    return found


def _names(columns: Sequence[str], mapping: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Raises FormatErrors where the mapping does not fit the file."""
    try:
        return kept_names(columns, mapping)
    except MappingRefusedError as error:
        raise FormatErrors([Fault(None, "", fault) for fault in error.faults]) from error


def _key(row: Row, cells: Mapping[str, str], seen: dict[str, int]) -> str:
    """The id of a row without one: named after what the file says, so that it is known again under any mapping."""
    told = json.dumps(cells, sort_keys=True, ensure_ascii=False)
    key = hashlib.sha256(told.encode(errors="replace")).hexdigest()[:16]
    if key in seen:
        row.say("", f"is the same row as line {seen[key]}: remove one of them, or give each row an id")
    # The fault is told once: as an id that is taken, it would be told again.
    number = seen.setdefault(key, row.line)
    return key if number == row.line else f"{key}-{row.line}"


def mark(documents_meta: Iterable[tuple[str, str]], *, seed: int, options: Mapping[str, Any]) -> dict[str, str]:
    """There are no splits: everything may be released."""
    return dict.fromkeys((key for key, _ in documents_meta), "train")


def next_items(item: JudgedItem) -> list[NextItem]:
    """There is no later stage."""
    return []


# Release


def release_of(collected: Collected, stage: str, levels: Mapping[str, str]) -> ReleaseContent:
    """items.csv, items.jsonl and items.parquet with the votes of each item that was kept, answers.jsonl and
    annotations.parquet with every answer to it.

    `levels` are those of the stage's units, in the order of the columns.
    """
    inputs = list(
        dict.fromkeys(name for item in _kept(collected, stage) for name in columns_of(item.document, item.data))
    )
    outcomes, with_models = outcomes_of(collected, stage)
    # Whoever stores the release reads them; they are gone with the last reference.
    csv_file, parquet_file, jsonl_file, answers_file = (tempfile.TemporaryFile() for _ in range(4))  # noqa: SIM115
    columns = (*COLUMNS, *with_models)

    def rows() -> Iterator[Json]:
        return (row_of(item, levels) | decided_by(item, with_models) for item in _kept(collected, stage))

    kept = write_jsonl(rows(), columns, jsonl_file)
    head = [*_head(inputs, levels), *with_models]
    types: dict[str, Type] = {name: "int64" if name == "answers" else "string" for name in head}
    flat = (_flat(row, inputs, levels) for row in rows())
    write_all(flat, head, types, {"csv": csv_file, "parquet": parquet_file})
    given = (row for item in by_people(_kept(collected, stage)) for row in answers_of(item, collected.pseudonym_key))
    answers = write_jsonl(given, ANSWER_COLUMNS, answers_file)
    left_out = {DROPPED: outcomes["dropped"], OPEN: outcomes["open"]}
    return ReleaseContent(
        files={
            "items.csv": csv_file,
            "items.jsonl": jsonl_file,
            "items.parquet": parquet_file,
            "answers.jsonl": answers_file,
            ANNOTATIONS: annotations_file(by_people(_kept(collected, stage)), collected.pseudonym_key),
        },
        tables={"items": {"train": "items.parquet"}, "annotations": {"train": ANNOTATIONS}},
        counts={"items": kept, "answers": answers},
        left_out={why: count for why, count in left_out.items() if count},
        notes=(
            "`majority` is the value that was given most often of a unit; in a tie there is none. `mean` is there for "
            "units whose values are numbers. Written texts stand in answers.jsonl alone.",
            "`worker` is a pseudonym: the same for the same worker within this project.",
            *([ABOUT_MODELS] if with_models else []),
        ),
        told=told_kept(collected, stage),
    )


def told_kept(collected: Collected, *stages: str) -> dict[str, Callable[[], Iterator[ToldItem]]]:
    """`ReleaseContent.told` where there are no splits: every kept item of these stages."""

    def told(stage: str) -> Iterator[ToldItem]:
        return (ToldItem(item.key, "train") for item in collected.judged(stage) if item.outcome == "kept")

    return {stage: partial(told, stage) for stage in stages}


def outcomes_of(collected: Collected, stage: str) -> tuple[Counter[str], tuple[str, ...]]:
    """(items by their outcome, the further column of a release in which models decided a kept item)."""
    outcomes, by_models = Counter[str](), False
    for item in collected.judged(stage):
        outcomes[item.outcome] += 1
        by_models = by_models or (item.by_models and item.outcome == "kept")
    return outcomes, (DECIDED_BY,) if by_models else ()


def by_people(items: Iterable[JudgedItem]) -> Iterator[JudgedItem]:
    """Without those that models decided: their labels are no answers of workers."""
    return (item for item in items if not item.by_models)


def decided_by(item: JudgedItem, columns: Sequence[str]) -> Json:
    """{column: `PEOPLE`, or the name of the model} where a release has that column."""
    named = item.labels[0].worker.removeprefix(MODEL) if item.by_models and item.labels else PEOPLE
    return dict.fromkeys(columns, named)


def _kept(collected: Collected, stage: str) -> Iterator[JudgedItem]:
    return (item for item in collected.judged(stage, labels=True) if item.outcome == "kept")


def row_of(item: JudgedItem, levels: Mapping[str, str]) -> Json:
    """The row of one item; votes, majorities and means by unit, in the order of `levels`."""
    given: dict[str, list[Any]] = {unit: [] for unit, level in levels.items() if level != "text"}
    for label in item.labels:
        if label.unit in given:
            given[label.unit].append(label.value)
    votes = {unit: Counter(map(as_text, values)) for unit, values in given.items()}
    return {
        "id": item.key,
        "columns": columns_of(item.document, item.data),
        "answers": 0 if item.by_models else len({label.assignment for label in item.labels}),
        "conclusion": item.conclusion,
        "votes": {unit: {} if item.by_models else dict(counts.most_common()) for unit, counts in votes.items()},
        "majority": {unit: majority_of(counts) for unit, counts in votes.items()},
        "mean": {unit: mean for unit, values in given.items() if (mean := _mean(values)) is not None},
    }


def _mean(values: Sequence[Any]) -> float | None:
    numbers = [value for value in values if type(value) in (int, float)]
    return round(sum(numbers) / len(numbers), 4) if numbers and len(numbers) == len(values) else None


def _head(inputs: Sequence[str], levels: Mapping[str, str]) -> list[str]:
    units = [unit for unit, level in levels.items() if level != "text"]
    return [
        *("id", "answers", "conclusion"),
        *(f"Input.{name}" for name in inputs),
        *(f"{what}.{unit}" for unit in units for what in ("majority", "votes")),
    ]


def _flat(row: Json, inputs: Sequence[str], levels: Mapping[str, str]) -> Json:
    """A row of texts: what was given, and votes as `value: number`, parted by bars."""
    found = {name: row[name] for name in ("id", "answers", "conclusion", DECIDED_BY) if name in row}
    found |= {f"Input.{name}": row["columns"].get(name, "") for name in inputs}
    for unit, counts in row["votes"].items():
        found[f"majority.{unit}"] = row["majority"][unit] or ""
        found[f"votes.{unit}"] = " | ".join(f"{value}: {count}" for value, count in counts.items())
    return found


def answers_of(item: JudgedItem, pseudonym_key: str) -> Iterator[Json]:
    """Every answer to an item that counts, in the order in which they came; workers by their pseudonyms."""
    by_answer: dict[str, list[GivenLabel]] = {}
    for label in item.labels:
        by_answer.setdefault(label.assignment, []).append(label)
    for labels in by_answer.values():
        yield {
            "id": item.key,
            "worker": pseudonym(labels[0].worker, pseudonym_key),
            "labels": {label.unit: label.value for label in labels},
            "correct": {label.unit: label.correct for label in labels if label.correct is not None},
        }


def annotations_file(items: Iterable[JudgedItem], pseudonym_key: str) -> BinaryIO:
    """annotations.parquet: what every answer that counts says of every unit; workers by their pseudonyms.

    A value that is not a text is written as JSON.
    """
    file = tempfile.TemporaryFile()  # noqa: SIM115
    rows = (
        {
            "id": item.key,
            "unit": label.unit,
            "value": as_text(label.value),
            "correct": label.correct,
            "worker": pseudonym(label.worker, pseudonym_key),
        }
        for item in items
        for label in item.labels
    )
    write_all(rows, list(ANNOTATION_TYPES), ANNOTATION_TYPES, {"parquet": file})
    return file


def pseudonym(worker: str, key: str) -> str:
    """Without the key nobody can tell whether a known id is behind it. `key` has at most 64 bytes. The name of a model
    stays.
    """
    if worker.startswith(MODEL):
        return worker
    return hashlib.blake2b(worker.encode(), key=key.encode(), digest_size=8).hexdigest()
