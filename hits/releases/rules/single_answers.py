"""Every answer that counts to the released items, as a table of a release, where the lead states that it is told."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

from hits.formats.outputs.tables import Type
from hits.judging.rules.crowd_answers import levels_of, named
from hits.models import Item, Label, Project, Stage
from hits.recipes.source import Json, ToldItem
from hits.recipes.table_rows import pseudonym
from hits.releases.rules.release_values import CHUNK, Tables, Told, tables_of
from hits.text.cells import as_text

NAME = "single_answers"
COLUMNS: dict[str, Type] = {
    "split": "string",
    "stage": "string",
    "item": "string",
    "unit": "string",
    "value": "string",
    "correct": "bool",
    "worker": "string",
}


def files_of(project: Project, told: Told) -> tuple[dict[str, BinaryIO], Tables]:
    """(single_answers.jsonl and a Parquet file for each split, the table for loaders). Workers are pseudonyms."""
    stages = project.stages.filter(key__in=told).order_by("position")
    return tables_of(NAME, (row for stage in stages for row in _rows(project, stage, told[stage.key]())), COLUMNS)


def _rows(project: Project, stage: Stage, told: Iterator[ToldItem]) -> Iterator[Json]:
    levels = levels_of(stage)
    while part := list(islice(told, CHUNK)):
        items = {item.key: item for item in part}
        of = Item.objects.filter(stage=stage, key__in=items)
        labels = Label.objects.counting().filter(item__in=of).order_by("item__key", "assignment__submitted_at", "id")
        for key, unit, value, correct, worker in labels.values_list(
            "item__key", "unit", "value", "correct", "worker__worker_id"
        ).iterator(chunk_size=CHUNK):
            item = items[key]
            if item.groups is not None and named(unit, levels)[1] not in item.groups:
                continue
            yield {
                "split": item.split,
                "stage": stage.key,
                "item": key,
                "unit": unit,
                "value": as_text(value),
                "correct": correct,
                "worker": pseudonym(worker, project.pseudonym_key),
            }
