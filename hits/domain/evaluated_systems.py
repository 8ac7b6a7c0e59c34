"""The systems that were evaluated on a release as tables, for its page, the command and its archive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from hits.formats.data_card import table_lines
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


@dataclass(frozen=True)
class Table:
    """One file's systems, the best one first; cells are texts, of a score with its 95 % interval in percent."""

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
    return [_table(split, file, list(of)) for (split, file), of in groupby(rows, lambda row: (row.split, row.file))]


def _table(split: str, file: str, rows: Sequence[EvaluatedSystem]) -> Table:
    rows = sorted(rows, key=lambda row: -row.scores[0]["value"])
    columns = list(dict.fromkeys((one["measure"], one["division"], one["part"]) for row in rows for one in row.scores))
    found = [{(one["measure"], one["division"], one["part"]): one for one in row.scores} for row in rows]
    head = ["System", "Kind", *(_title(found, column) for column in columns), "Method", "Seed"]
    return Table(
        split,
        file,
        head,
        [
            [
                row.name,
                row.get_kind_display(),
                *(score_text(scores.get(column)) for column in columns),
                row.method or "—",
                "—" if row.seed is None else str(row.seed),
            ]
            for row, scores in zip(rows, found, strict=True)
        ],
    )


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
        "items, whose number stands in the head. This file is no part of the release's digest: systems join it later."
    )
    return "\n\n".join([head, *parts]) + "\n" if parts else ""
