"""Types of questions, and where their answers come from, as charts: MCScript2.0's Figures 3 and 4."""

from __future__ import annotations

from collections.abc import Mapping

from hits import charts
from hits.text.figures.question_statistics import QuestionTally


def types_chart(tally: QuestionTally) -> str:
    """Bars of how many questions are of which type, as SVG text; an empty string where there is no question."""
    kinds = tally.by_type()
    total = sum(kinds.values())
    said = ", ".join(f"{kind} {count:,} ({count / total:.0%})" for kind, count in kinds.items())
    return charts.count_rows(kinds, "Question types", f"{total:,} questions by their first word: {said}.")


def labels_chart(tally: QuestionTally) -> str:
    """For each type a bar of where the answers come from, as SVG text; an empty string where there is no question."""
    rows = {kind: tally.shares(kind) for kind in tally.by_type()}
    said = "; ".join(f"{kind}: {_spoken(shares)}" for kind, shares in rows.items())
    return charts.share_rows(rows, "Labels by question type", f"Where the answers come from. {said}.")


def _spoken(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{label} {share:.0%}" for label, share in shares.items())
