"""One value of each released item from all answers to it, as tables of a release: what the page “Agreement” computed.

The collections' own files stay as they are. A row of these tables is a unit of an item: its value by the method that
the lead chose, how sure it is, and by how many answers. They hold the items of which a release may tell labels
(`ReleaseContent.told`): not those of a split whose labels are hidden.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, BinaryIO

from hits.formats.outputs.tables import Type, write_all, write_jsonl
from hits.judging.rules import stage_statistics
from hits.judging.rules.crowd_answers import levels_of, named
from hits.models import ComputationRun, Project, Stage
from hits.recipes.source import Json, ToldItem
from hits.text.cells import as_text

NAME = "aggregated"
COLUMNS: dict[str, Type] = {
    "split": "string",
    "stage": "string",
    "item": "string",
    "unit": "string",
    "value": "string",
    "confidence": "float64",
    "low": "float64",
    "high": "float64",
    "entropy": "float64",
    "answers": "int64",
    "method": "string",
}
# Items whose results are read at once.
CHUNK = 500
Told = Mapping[str, Callable[[], Iterator[ToldItem]]]
Tables = dict[str, dict[str, str]]


def files_of(project: Project, told: Told) -> tuple[dict[str, BinaryIO], Tables, list[Json]]:
    """(aggregated.jsonl and a Parquet file for each split, the table for loaders, what `described` says a stage).

    All empty where no stage has a finished run with values of released items. Memory does not grow with the rows.
    """
    facts: list[Json] = []
    return *tables_of(NAME, _all_rows(project, told, facts), COLUMNS), facts


def tables_of(name: str, rows: Iterator[Json], columns: Mapping[str, Type]) -> tuple[dict[str, BinaryIO], Tables]:
    """(`name`.jsonl and a Parquet file for each split, the table for loaders); both empty without rows."""
    # Whoever stores the release reads them; they are gone with the last reference.
    jsonl: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
    if not write_jsonl(rows, list(columns), jsonl):
        return {}, {}
    files: dict[str, BinaryIO] = {f"{name}.jsonl": jsonl}
    splits: dict[str, str] = {}
    for split in _splits(jsonl):
        splits[split] = f"{name}-{split}.parquet"
        files[splits[split]] = tempfile.TemporaryFile()  # noqa: SIM115
        of_split = (row for row in _lines(jsonl) if row["split"] == split)
        write_all(of_split, list(columns), columns, {"parquet": files[splits[split]]})
    return files, {name: splits}


def described(run: ComputationRun, stage: Stage, values: int) -> Json:
    """How the values of a stage were found: `methods` by unit, when (ISO 8601, UTC), over how many answers, whether
    answers came or stopped counting since, and how many values the release has.
    """
    finished = run.finished_at or run.created_at
    return {
        "stage": stage.key,
        "method": run.params.get("method", ""),
        "methods": stage_statistics.methods_by_unit(run),
        "computed_at": finished.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "answers": stage_statistics.harvested_before(run),
        "older_than_answers": stage_statistics.is_older(run, stage),
        "values": values,
    }


def _all_rows(project: Project, told: Told, facts: list[Json]) -> Iterator[Json]:
    """Stage by stage; what is said of each stage with rows is added to `facts`."""
    for stage in project.stages.filter(key__in=told).select_related("summary").order_by("position"):
        run = stage_statistics.newest(stage)
        if run is None:
            continue
        values = 0
        for row in _rows(run, stage, told[stage.key]()):
            values += 1
            yield row
        if values:
            facts.append(described(run, stage, values))


def _rows(run: ComputationRun, stage: Stage, told: Iterator[ToldItem]) -> Iterator[Json]:
    methods, levels = stage_statistics.methods_by_unit(run), levels_of(stage)
    while part := list(islice(told, CHUNK)):
        results = run.concluded.filter(item__key__in=[item.key for item in part])
        found: dict[str, Any] = dict(results.values_list("item__key", "data"))
        for item in (item for item in part if item.key in found):
            for unit, value in sorted(found[item.key]["units"].items()):
                bare, group = named(unit, levels)
                if item.groups is None or group in item.groups:
                    yield _row(item, stage.key, unit, value, methods.get(bare, ""))


def _row(item: ToldItem, stage: str, unit: str, value: Mapping[str, Any], method: str) -> Json:
    numbers = {name: value.get(name) for name in ("confidence", "low", "high", "entropy")}
    return {
        "split": item.split,
        "stage": stage,
        "item": item.key,
        "unit": unit,
        # In a tie there is none.
        "value": None if value["value"] is None else as_text(value["value"]),
        **{name: None if number is None else float(number) for name, number in numbers.items()},
        "answers": value["answers"],
        "method": method,
    }


def _lines(jsonl: BinaryIO) -> Iterator[Json]:
    jsonl.seek(0)
    return map(json.loads, jsonl)


def _splits(jsonl: BinaryIO) -> Sequence[str]:
    """In the order in which they come."""
    return list(dict.fromkeys(row["split"] for row in _lines(jsonl)))
