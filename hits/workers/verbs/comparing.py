"""Comparing workers with one another: the figures of all workers of a stage, in one pass over its answers.

They need everybody's answers, so they are recomputed when enough new answers came, and a while after anything else has
changed which answers count.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet, Sum
from django.utils import timezone

from hits.answers.rules.eligibility import least_seconds
from hits.core.jobs.leases import lease
from hits.judging.rules.crowd_answers import Comparison
from hits.models import Assignment, Label, Stage, StageSummary, WorkerStat
from hits.payments.rules.wages import expected_seconds
from hits.stats.worker_figures import HURRIED, Compared, Crowd, Own, Said, compare, runs, what_stands_out

LEASE_SECONDS = 120
# With so many more answers than last time it is time again: all comparisons together read each answer some 20 times.
GROWTH = 20
# What changes less is waited for so long, so that one pass tells of it all.
SETTLE = timedelta(minutes=1)
_COLUMNS = [
    "compared", "agreed", "agreed_by_chance", "right_by_chance", "repeats", "longest_run", "followed", "timed",
    "hurried", "notices", "why",
]  # fmt: skip

_SUMMED = (
    "scored", "correct", "right_by_chance", "compared", "agreed", "agreed_by_chance", "repeats", "followed",
)  # fmt: skip


def is_due(stage: Stage) -> bool:
    """Whether enough answers came, or something changed a while ago, since the workers were compared."""
    return _due().filter(stage=stage).exists()


def due_stages() -> list[int]:
    """Stages whose workers are to be compared anew."""
    return sorted(_due().values_list("stage", flat=True))


def _due() -> QuerySet[StageSummary]:
    grown = Q(answers__gte=F("compared_answers") + 1 + F("compared_answers") / GROWTH)
    changed = Q(updated_at__gt=F("compared_at"), compared_at__lte=timezone.now() - SETTLE)
    return StageSummary.objects.filter(grown | changed, answers__gt=0, stage__crowd=True)


def compare_when_due(stage: Stage) -> int:
    """Returns how many workers were compared."""
    return compare_workers(stage) if is_due(stage) else 0


def compare_workers(stage: Stage) -> int:
    """Recompute what the workers' figures say of them beside the others; returns how many workers there are.

    A second process at the same stage leaves it to the first.
    """
    with lease(f"comparing:{stage.pk}", seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        return _compare(stage)


def _compare(stage: Stage) -> int:
    began = timezone.now()
    answers = StageSummary.objects.values_list("answers", flat=True).get(stage=stage)
    read = _Reading()
    figures, times = compare(read.rows(stage)), _times(stage)
    with transaction.atomic():
        rows = list(WorkerStat.objects.select_for_update().filter(stage=stage).order_by("pk"))
        for row in rows:
            _fill(row, figures.get(row.worker_id, Compared()), read.said.get(row.worker_id, {}))
            row.timed, row.hurried = times.get(row.worker_id, (0, 0))
        crowd = _crowd(stage, _sums(rows))
        for row in rows:
            found = what_stands_out(_own(row), crowd)
            row.notices, row.why = len(found), " ".join(found)
        WorkerStat.objects.bulk_update(rows, _COLUMNS, batch_size=200)
        StageSummary.objects.filter(stage=stage).update(compared_at=began, compared_answers=answers)
    return len(rows)


@dataclass
class _Reading:
    """What is read of a stage's labels: for the comparison row by row, and beside it each worker's answers in order."""

    said: dict[int, dict[tuple[int, int], list[tuple[str, str]]]] = field(default_factory=dict)

    def rows(self, stage: Stage) -> Iterator[Said]:
        """Labels of rejected answers and of blocked workers count for nothing and stay evidence; those of answers that
        wait for a lead's word are none yet.
        """
        labels = Label.objects.evidence().filter(stage=stage).order_by("assignment__submitted_at", "pk")
        columns = ("worker", "assignment", "item", "unit", "value", "correct", "void", "undone_at")
        comparison = Comparison.of(stage)
        for worker, answer, item, unit, value, correct, void, undone in labels.values_list(*columns).iterator(2000):
            text = json.dumps(value, sort_keys=True, ensure_ascii=False)
            self.said.setdefault(worker, {}).setdefault((answer, item), []).append((unit, text))
            compared = comparison.value(unit, value)
            if compared is not None:
                yield Said(worker, item, unit, compared, not void and undone is None, correct)


def _fill(row: WorkerStat, found: Compared, said: Mapping[tuple[int, int], list[tuple[str, str]]]) -> None:
    # Sums of shares: without what is left of rounding.
    row.compared, row.agreed = found.compared, round(found.agreed, 6)
    row.agreed_by_chance, row.right_by_chance = round(found.agreed_by_chance, 6), round(found.right_by_chance, 6)
    row.repeats, row.longest_run = runs([tuple(sorted(one)) for one in said.values()])
    row.followed = max(0, len(said) - 1)


def _times(stage: Stage) -> dict[int, tuple[int, int]]:
    """(answers with a time, those of them that were hurried) by worker, of answers that are evidence."""
    median = StageSummary.objects.values_list("median_seconds", flat=True).get(stage=stage)
    timed = Assignment.objects.evidence().filter(stage=stage, seconds__isnull=False)
    hurried = Count("id", filter=Q(seconds__lt=(median or 0) / HURRIED))
    rows = timed.values("worker").annotate(n=Count("id"), hurried=hurried).order_by()
    return {worker: (n, fast) for worker, n, fast in rows.values_list("worker__pk", "n", "hurried")}


def _own(row: WorkerStat) -> Own:
    figures = Compared(row.compared, row.agreed, row.agreed_by_chance, row.right_by_chance)
    return Own(
        row.answers, row.median_seconds, row.longest_run, row.scored, row.correct, row.right_by_chance, figures
    )  # fmt: skip


def crowd_of(stage: Stage) -> Crowd:
    """The figures of all workers of the stage together, as of the last comparison."""
    return _crowd(stage, stage.worker_stats.aggregate(**{name: Sum(name) for name in _SUMMED}))


def _sums(rows: list[WorkerStat]) -> dict[str, Any]:
    return {name: sum(getattr(row, name) for row in rows) for name in _SUMMED}


def _crowd(stage: Stage, sums: Mapping[str, Any]) -> Crowd:
    def share(part: str, whole: str) -> float | None:
        return sums[part] / sums[whole] if sums[whole] else None

    return Crowd(
        median_seconds=StageSummary.objects.values_list("median_seconds", flat=True).get(stage=stage),
        least_seconds=least_seconds(stage) * stage.items_per_hit,
        repeats=share("repeats", "followed") or 0.0,
        accuracy=share("correct", "scored"),
        accuracy_by_chance=share("right_by_chance", "scored") or 0.0,
        agreement=share("agreed", "compared"),
        agreement_by_chance=share("agreed_by_chance", "compared") or 0.0,
        expected_seconds=expected_seconds(stage),
    )
