"""A release as a folder to be loaded. The answers of test lie beside it, so that nobody learns from them unawares.

The folder has a table of the systems that were evaluated on the release.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from hits.formats.outputs.data_card import table_lines
from hits.models import Blob, EvaluatedSystem, Project, Release
from hits.projects.rules.plugins import usable_recipe

FILE = "evaluations.md"
MEASURES = {
    "exact_match": "Exact match",
    "f1": "F1",
    "accuracy": "Accuracy",
    "bleu": "BLEU",
    "rouge_l": "ROUGE-L",
    "meteor": "METEOR",
}
# What people scored, by measure, as the statistics of a split have it: the name there, what 100 % is there, the name of
# how many were asked about, and of what.
_PEOPLE = {
    "exact_match": [("human_exact_match", 100, "human_queries", "")],
    "f1": [("human_f1", 100, "human_queries", "")],
    "accuracy": [("human_majority", 1, "human_sets", ""), ("human_accuracy", 1, "human_texts", " texts")],
}


def key_of(project: Project) -> str:
    """The name of the file with the answers of test; empty where the recipe has none, or cannot be used."""
    recipe = usable_recipe(project)
    return str(getattr(recipe.steps, "KEY_FILE", "")) if recipe else ""


def paths(release: Release, folder: str, *, keys: bool = True) -> dict[str, Blob]:
    """Each file by its path: `folder` and its name, and with `keys` FOLDER-test-key.csv or the like beside it."""
    key = key_of(release.project)
    files = {file.name: file.blob for file in release.files.select_related("blob")}
    beside = {f"{folder}-{key}": files[key]} if keys and key in files else {}
    return {**{f"{folder}/{name}": blob for name, blob in files.items() if name != key}, **beside}


def zipped(release: Release, *, keys: bool) -> BinaryIO:
    """The folder as a zip archive, to be read from its beginning, with the systems that were evaluated so far."""
    made = TemporaryFile()  # noqa: SIM115
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, blob in paths(release, name_of(release), keys=keys).items():
            with archive.open(path, "w", force_zip64=True) as target:
                target.writelines(blob.read_chunks())
        if told := markdown(release):
            archive.writestr(f"{name_of(release)}/{FILE}", told)
    made.seek(0)
    return made


def name_of(release: Release) -> str:
    return f"{release.project.slug}-{release.number}"


# Evaluated systems


@dataclass(frozen=True)
class Table:
    """One file's systems, the best one first below what people scored on that split; cells are texts, of a system's
    score with its 95 % interval in percent, and of people's with how many items they were asked about.
    """

    split: str
    file: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def cells(self) -> list[list[tuple[str, str]]]:
        """Each row as (head, cell)."""
        return [list(zip(self.head, row, strict=True)) for row in self.rows]


def tables(release: Release) -> list[Table]:
    rows = release.systems.defer("sums").order_by("split", "file", "pk")
    statistics = release.manifest.get("statistics", {})
    return [
        _table(split, file, list(of), statistics.get(split) or {})
        for (split, file), of in groupby(rows, lambda row: (row.split, row.file))
    ]


def _table(split: str, file: str, rows: Sequence[EvaluatedSystem], statistics: dict[str, Any]) -> Table:
    rows = sorted(rows, key=lambda row: -row.scores[0]["value"])
    columns = list(dict.fromkeys((one["measure"], one["division"], one["part"]) for row in rows for one in row.scores))
    found = [{(one["measure"], one["division"], one["part"]): one for one in row.scores} for row in rows]
    head = ["System", "Kind", *(_title(found, column) for column in columns), "Method", "Seed"]
    return Table(
        split,
        file,
        head,
        [
            *_people(columns, statistics),
            *(
                [
                    row.name,
                    row.get_kind_display(),
                    *(score_text(scores.get(column)) for column in columns),
                    row.method or "—",
                    "—" if row.seed is None else str(row.seed),
                ]
                for row, scores in zip(rows, found, strict=True)
            ),
        ],
    )


def _people(columns: Sequence[tuple[str, str, str]], statistics: dict[str, Any]) -> list[list[str]]:
    """Their row; none where nobody was asked."""
    cells = ["—" if division else _people_text(measure, statistics) for measure, division, _ in columns]
    return [["Human score", "People", *cells, "—", "—"]] if set(cells) != {"—"} else []


def _people_text(measure: str, statistics: dict[str, Any]) -> str:
    for name, whole, asked, unit in _PEOPLE.get(measure, ()):
        if name in statistics:
            return f"{100 * statistics[name] / whole:.1f} % (on {statistics[asked]:,}{unit})"
    return "—"


def _title(found: Sequence[dict[tuple[str, str, str], Any]], column: tuple[str, str, str]) -> str:
    measure, _, part = column
    n = next(scores[column]["n"] for scores in found if column in scores)
    title = MEASURES.get(measure, measure.replace("_", " ").capitalize())
    return f"{title}, {part} ({n:,})" if part else f"{title} ({n:,})"


def score_text(score: dict[str, Any] | None) -> str:
    if score is None:
        return "—"
    return f"{100 * score['value']:.1f} % ({100 * score['low']:.1f} to {100 * score['high']:.1f})"


def markdown(release: Release) -> str:
    """Empty where no system was evaluated."""
    parts = [
        "\n".join([f"## {table.split}: {table.file}", "", *table_lines(table.head, table.rows)])
        for table in tables(release)
    ]
    head = (
        f"# Systems on release {release.number}\n\nScores in percent with the 95 % intervals of a bootstrap over "
        "items, whose number stands in the head; of people with how many items they were asked about. This file is "
        "no part of the release's digest: systems join it later."
    )
    return "\n\n".join([head, *parts]) + "\n" if parts else ""
