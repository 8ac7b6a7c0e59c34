"""What a release gives away: the accuracy of models that do not see everything; see `hits.text.filtering.artefacts`."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import BinaryIO

from hits.recipes.source import Json
from hits.stats.intervals import wilson
from hits.text.filtering.artefacts import VIEWS, Example, Part, tested


def check(parts: Mapping[str, Part]) -> Json:
    """{view: {split: {"accuracy", "low", "high", "chance", "n"}}, "trained_on": examples}, shares of 1 with their 95 %
    interval; empty where there is nothing to learn from or to be tested on.
    """
    found = tested(parts)
    return {name: _told(figures) if name in VIEWS else figures for name, figures in found.items()}


def _told(of: Mapping[str, Mapping[str, float]]) -> Json:
    told = {}
    for split, figures in of.items():
        right, n = int(figures["right"]), int(figures["n"])
        low, high = wilson(right, n)
        shares = {"accuracy": right / n, "low": low, "high": high, "chance": figures["chance"]}
        told[split] = {**{name: round(share, 4) for name, share in shares.items()}, "n": n}
    return told


def of_tables(
    files: Mapping[str, BinaryIO], tables: Mapping[str, str], key: str, *, text: str, answers: Sequence[str]
) -> Json:
    """What `check` finds in JSON Lines by split; the labels of the table without any stand in `key`, row by row.

    `text` and `answers` name columns.
    """
    parts = {
        split: partial(_examples, files[name], files[key] if split == "test" else None, text, answers)
        for split, name in tables.items()
    }
    return check(parts)


def _examples(table: BinaryIO, key: BinaryIO | None, text: str, answers: Sequence[str]) -> Iterator[Example]:
    """One reader at a time: the streams are shared."""
    labels = _labels(key) if key else None
    table.seek(0)
    for line in table:
        row = json.loads(line)
        label = next(labels) if labels else row["label"]
        yield Example(row[text], row["question"], [row[name] for name in answers], frozenset([label]))


def _labels(key: BinaryIO) -> Iterator[int]:
    key.seek(0)
    lines = (line.decode() for line in key)
    return (int(row["label"]) for row in csv.DictReader(lines))
