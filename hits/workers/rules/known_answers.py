"""How many of a worker's answers with a known right one were right over time: the newest, in parts of equal number."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hits.models import Label, Stage, Worker
from hits.stats.intervals import wilson

# So many of the newest are read. Parts are of FEWEST answers or more, unless there are less in all.
NEWEST, MOST_PARTS, FEWEST = 1000, 10, 10


@dataclass(frozen=True)
class Part:
    """Answers one after another: when the first and the last were given, how many they are, how many were right."""

    first: datetime
    last: datetime
    scored: int
    right: int

    @property
    def share(self) -> float:
        return self.right / self.scored

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.right, self.scored)


def over_time(stage: Stage, worker: Worker) -> list[Part]:
    """Oldest first; the same answers as in the worker's figures, those of blocked workers too. One query."""
    compared = Label.objects.evidence().filter(stage=stage, worker=worker, correct__isnull=False)
    newest = compared.order_by("-id").values_list("assignment__submitted_at", "correct")[:NEWEST]
    rows = sorted((at, bool(correct)) for at, correct in newest)
    count = min(MOST_PARTS, max(1, len(rows) // FEWEST)) if rows else 0
    ends = [len(rows) * number // count for number in range(count + 1)] if count else []
    return [_part(rows[start:end]) for start, end in zip(ends, ends[1:], strict=False)]


def _part(rows: list[tuple[datetime, bool]]) -> Part:
    return Part(rows[0][0], rows[-1][0], len(rows), sum(right for _, right in rows))
