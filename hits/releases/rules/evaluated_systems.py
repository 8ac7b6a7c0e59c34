"""The systems that were evaluated on a release as tables, for its page, the command and its archive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from hits.formats.outputs.data_card import table_lines
from hits.models import EvaluatedSystem, Release

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
