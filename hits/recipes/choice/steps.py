"""Steps of the recipe for a task of one's own: a row of the file is an item, and its votes are what is released."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, BinaryIO

from hits.formats.inputs import choices
from hits.formats.outputs.tables import Type, write_all, write_jsonl
from hits.recipes.choice.scoring import SCORING as SCORING
from hits.recipes.source import (
    UNUSED,
    Collected,
    Json,
    JudgedItem,
    NextItem,
    ReleaseContent,
    SourceDocument,
    SourceItem,
)
from hits.recipes.table_rows import (
    ABOUT_MODELS,
    ANNOTATIONS,
    annotations_file,
    by_people,
    decided_by,
    outcomes_of,
    told_kept,
)
from hits.stats.majority import majority_of

STAGE = "choose"
TABLE = choices.TABLE
COLUMNS = ("id", "text", "question", "answers", "votes", "majority", "share", "conclusion", "gold", "words")
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})
# No other column of a release has a full stop in its name.
KEPT = "Input."
DROPPED, OPEN = "dropped by the rule", "answers are missing"


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
    """One document with one item a row. Raises FormatErrors with every fault."""
    rows = choices.read(stream, name=name, max_bytes=max_bytes, progress=progress, mapping=mapping)
    return [
        SourceDocument(row.key, default_origin, _document(row), (SourceItem(row.key, _item(row)),), row.line)
        for row in rows
    ]


def _document(row: choices.ChoiceTask) -> Json:
    return {"text": row.text} | ({UNUSED: dict(row.unused)} if row.unused else {})


def _item(row: choices.ChoiceTask) -> Json:
    """Choices are called c1, c2 ... in the order of the file, which is how a rule names them."""
    found: Json = {"question": row.question} if row.question else {}
    if row.choices:
        found["choices"] = [{"id": f"c{number}", "text": text} for number, text in enumerate(row.choices, 1)]
    ids = {choice["text"]: choice["id"] for choice in found.get("choices", [])}
    return found | ({"gold": [ids.get(text, text) for text in row.gold]} if row.gold else {})


def mark(documents_meta: Iterable[tuple[str, str]], *, seed: int, options: Mapping[str, Any]) -> dict[str, str]:
    """There are no splits: everything may be released."""
    return dict.fromkeys((key for key, _ in documents_meta), "train")


def next_items(item: JudgedItem) -> list[NextItem]:
    """There is no later stage."""
    return []


def build_release(collected: Collected) -> ReleaseContent:
    """items.csv, items.jsonl and items.parquet: one row an item that was kept, with its votes and what most workers
    chose; annotations.parquet has every answer to them.

    Columns of the imported files that the task does not use come out as `Input.` and their name, empty where an item's
    file had none.
    """
    # Whoever stores the release reads them; they are gone with the last reference.
    csv_file, jsonl_file, parquet_file = (tempfile.TemporaryFile() for _ in range(3))  # noqa: SIM115
    kept_columns = _kept_columns(collected)
    outcomes, with_models = outcomes_of(collected, STAGE)
    columns = (*COLUMNS, *with_models, *(KEPT + name for name in kept_columns))
    kept = write_jsonl(_rows(collected, kept_columns, with_models), columns, jsonl_file)
    types: dict[str, Type] = dict.fromkeys(columns, "string")
    types |= {"answers": "int64", "share": "float64"}
    flat = map(_flat, _rows(collected, kept_columns, with_models))
    write_all(flat, columns, types, {"csv": csv_file, "parquet": parquet_file})
    kept_items = by_people(item for item in collected.judged(STAGE, labels=True) if item.outcome == "kept")
    left_out = {DROPPED: outcomes["dropped"], OPEN: outcomes["open"]}
    return ReleaseContent(
        files={
            "items.csv": csv_file,
            "items.jsonl": jsonl_file,
            "items.parquet": parquet_file,
            ANNOTATIONS: annotations_file(kept_items, collected.pseudonym_key),
        },
        tables={"items": {"train": "items.parquet"}, "annotations": {"train": ANNOTATIONS}},
        counts={"items": kept},
        left_out={why: count for why, count in left_out.items() if count},
        notes=(
            "The column share says which part of the answers the majority gave. In a tie both are empty.",
            *([ABOUT_MODELS] if with_models else []),
        ),
        told=told_kept(collected, STAGE),
    )


def _kept_columns(collected: Collected) -> tuple[str, ...]:
    """The columns of imported files that the task did not use, in the order of the items."""
    found: dict[str, None] = {}
    for item in collected.judged(STAGE):
        if item.outcome == "kept":
            found.update(dict.fromkeys(item.document.get(UNUSED, ())))
    return tuple(found)


def _rows(collected: Collected, kept_columns: Sequence[str], with_models: Sequence[str]) -> Iterator[Json]:
    settings = collected.settings(STAGE)
    for item in collected.judged(STAGE, labels=True):
        if item.outcome == "kept":
            unused = item.document.get(UNUSED, {})
            row = row_of(item, settings) | decided_by(item, with_models)
            yield row | {KEPT + name: unused.get(name) for name in kept_columns}


def row_of(item: JudgedItem, settings: Json) -> Json:
    """The row of one item. Votes count answers by the text of a choice; a majority is a choice made most often.

    Where several could be chosen, the majority is each choice that more than half made, and `share` is empty.
    """
    texts = {one["id"]: one["text"] for one in item.data.get("choices") or settings["choices"]}
    answers = len({label.assignment for label in item.labels})
    votes = _votes(item, settings["several"])
    alone = None if settings["several"] else majority_of(votes)
    majority = (
        sorted(ident for ident, count in votes.items() if 2 * count > answers)
        if settings["several"]
        else [alone]
        if alone
        else []
    )
    return {
        "id": item.key,
        "text": item.document["text"],
        "question": item.data.get("question") or settings["question"],
        "answers": 0 if item.by_models else answers,
        "votes": {text: 0 if item.by_models else votes[ident] for ident, text in texts.items()},
        "majority": [texts.get(ident, ident) for ident in majority],
        "share": round(votes[alone] / answers, 4) if alone and not item.by_models else None,
        "conclusion": item.conclusion,
        "gold": [texts.get(one, one) for one in item.data.get("gold", [])],
        "words": [label.value["text"] for label in item.labels if label.unit == "text"],
    }


def _votes(item: JudgedItem, several: bool) -> Counter[str]:
    if not several:
        return Counter(label.value for label in item.labels if label.unit == "choice")
    ticked = (label.unit for label in item.labels if label.unit.endswith("/chosen") and label.value == "yes")
    return Counter(unit.removesuffix("/chosen") for unit in ticked)


def _flat(row: Json) -> Json:
    """A row whose lists are texts: parted by bars, votes as `text: number`."""
    votes = " | ".join(f"{text}: {count}" for text, count in row["votes"].items())
    return {**row, "votes": votes, **{name: " | ".join(row[name]) for name in ("majority", "gold", "words")}}
