"""Recomputes the figures that pages show. Every verb that changed rows calls this at its end."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import median
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce, TruncHour
from django.utils import timezone

from hits.answers.models import HELD, Assignment, Label, Verdict
from hits.answers.rules.reported_decisions import TAKEN_BACK
from hits.items.models import Item
from hits.publishing.rules.hit_items import left_out, with_hit
from hits.stages.models import Stage, StageSummary
from hits.workers.models import WorkerStat
from hits.workers.rules import screening

HISTOGRAM_BINS = 20
# Items and answers of a stage from which on its figures are not counted again at every change of a row.
MANY = 50_000
# They rest so many times as long as it took to count them.
REST = 10


@transaction.atomic
def refresh_summary(stage: Stage) -> bool:
    """Count the figures of the stage again; returns whether it was done.

    With millions of answers that takes seconds, and a row changes at every answer. So the figures of a large stage rest
    once they are counted: they are marked as old, and `due` names the stage when they may be counted again.
    """
    # Before the rows are counted: of two processes, the one that counted first does not write over the other one.
    summary, _ = StageSummary.objects.select_for_update().get_or_create(stage=stage)
    if _rests_until(summary) > timezone.now():
        StageSummary.objects.filter(pk=summary.pk).update(is_old=True)
        return False
    began = time.monotonic()
    histogram = [0] * HISTOGRAM_BINS
    for scored, correct in stage.worker_stats.filter(scored__gt=0).values_list("scored", "correct"):
        histogram[min(HISTOGRAM_BINS - 1, correct * HISTOGRAM_BINS // scored)] += 1
    figures = {
        **_item_figures(stage),
        **_answer_figures(stage),
        "histogram": histogram,
        **_timeline(stage),
    }
    figures |= {"count_seconds": time.monotonic() - began, "is_old": False}
    StageSummary.objects.update_or_create(stage=stage, defaults=figures)
    return True


def due() -> list[int]:
    """Stages whose figures are old and may be counted again."""
    now = timezone.now()
    return [row.stage_id for row in StageSummary.objects.filter(is_old=True) if _rests_until(row) <= now]


def _rests_until(summary: StageSummary) -> datetime:
    is_large = summary.items + summary.answers > MANY
    return summary.updated_at + timedelta(seconds=REST * summary.count_seconds * is_large)


def _item_figures(stage: Stage) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    conclusions = []
    for state, word, n in stage.items.values_list("state", "conclusion").annotate(n=Count("id")).order_by():
        counts[state] += n
        if word:
            conclusions.append([state, word, n])
    if not stage.crowd:
        # Its items are used from where they are: none waits for anything.
        return {"items": counts.total(), "conclusions": sorted(conclusions, key=_most_first), "made": _made(stage)}
    checks = counts.pop(Item.State.CHECK, 0)
    total = counts.total()
    withdrawn = counts.get(Item.State.WITHDRAWN, 0)
    waiting, again = counts.get(Item.State.NEW, 0), counts.get(Item.State.AGAIN, 0)
    if stage.screening_share:
        return _test_figures(stage, checks)
    return {
        "items": total,
        "waiting": waiting,
        "published": total - waiting - _unpublished(stage, withdrawn),
        "withdrawn": withdrawn,
        "check_questions": checks,
        "open": counts.get(Item.State.OPEN, 0) + again,
        "again": again,
        "answered": stage.labels.of_counting_answers()
        .exclude(item__state=Item.State.CHECK)
        .aggregate(n=Count("item", distinct=True))["n"],
        "kept": counts.get(Item.State.KEPT, 0),
        "dropped": counts.get(Item.State.DROPPED, 0),
        "conclusions": sorted(conclusions, key=_most_first),
        "answers_taken": _answers_taken(stage),
        **Verdict.objects.by_models(stage).aggregate(
            decided_by_models=Count("id"), kept_by_models=Count("id", filter=Q(item__state=Item.State.KEPT))
        ),
    }


def _test_figures(stage: Stage, checks: int) -> dict[str, Any]:
    """Of a stage that tests workers: its items wait for no verdict and may be asked about again."""
    asked = stage.items.filter(state=Item.State.CHECK)
    return {
        "items": checks,
        "waiting": len(screening.waiting(stage)),
        "published": with_hit(asked).count(),
        "check_questions": checks,
        "open": screening.in_open_hits(asked).count(),
        "answered": stage.labels.of_counting_answers().aggregate(n=Count("item", distinct=True))["n"],
    }


def _answers_taken(stage: Stage) -> list[list[int]]:
    if stage.most_answers is None:
        return []
    decided = stage.items.filter(state__in=[Item.State.KEPT, Item.State.DROPPED], wanted__isnull=False)
    # Those that models decided took no answer.
    decided = decided.filter(~Exists(Verdict.objects.by_models(stage).filter(item=OuterRef("pk"))))
    return [list(row) for row in decided.values_list("wanted").annotate(n=Count("id")).order_by("wanted")]


def _most_first(conclusion: Sequence[Any]) -> tuple[int, str]:
    return -conclusion[2], conclusion[1]


def _made(stage: Stage) -> dict[str, int]:
    """Sums of the items' figures, by name."""
    sums: Counter[str] = Counter()
    for figures in stage.items.exclude(figures=None).values_list("figures", flat=True).iterator(chunk_size=2000):
        sums.update(figures)
    return dict(sums)


def _unpublished(stage: Stage, withdrawn: int) -> int:
    """Of the items that wait for nothing, those that never went out: taken back, judged by imported answers, or left to
    models.
    """
    if not withdrawn and not stage.assignments.imported().exists() and not stage.routings.exists():
        return 0
    return left_out(stage.items.all()).count()


def _answer_figures(stage: Stage) -> dict:
    figures = stage.assignments.aggregate(
        answers=Count("id"),
        imported=Count("id", filter=~Q(imported_from=None)),
        to_review=Count("id", filter=Q(state=Assignment.State.SUBMITTED)),
        next_auto_approval=Min(Coalesce("approve_at", "auto_approval_at"), filter=Q(state=Assignment.State.SUBMITTED)),
        invalid=Count("id", filter=~Q(problem="")),
        rejected=Count("id", filter=Q(state=Assignment.State.REJECTED)),
        held=Count("id", filter=HELD),
        reported=Count("id", filter=~Q(remark="")),
        taken_back=Count("id", filter=Q(adopted=TAKEN_BACK)),
    )
    figures |= stage.labels.counting().aggregate(
        scored=Count("id", filter=Q(correct__isnull=False)), correct=Count("id", filter=Q(correct=True))
    )
    named = stage.assignments.exclude(terms=None).values_list("terms__version").annotate(n=Count("id")).order_by()
    figures["terms"] = {str(version): n for version, n in named}
    # How long an answer takes that is paid.
    paid = stage.assignments.from_marketplace()
    figures["median_seconds"] = median_of(paid, figures["answers"] - figures["imported"])
    return figures


def median_of(assignments: QuerySet[Assignment], count: int) -> float | None:
    """The middle of the seconds by sorting in the database: neither SQLite nor the ORM has a median."""
    if not count:
        return None
    middle = assignments.order_by("seconds").values_list("seconds", flat=True)[(count - 1) // 2 : count // 2 + 1]
    return median(seconds for seconds in middle if seconds is not None)


def _timeline(stage: Stage) -> dict:
    here = stage.assignments.from_marketplace()
    hours = list(
        here.annotate(hour=TruncHour("submitted_at")).values_list("hour").annotate(n=Count("id")).order_by("hour")
    )
    latest = here.order_by("-submitted_at").values_list("submitted_at", flat=True).first()
    recent = 0
    if latest:
        recent = here.filter(submitted_at__gt=latest - timedelta(hours=1)).count()
    return {"timeline": [[hour.isoformat(), n] for hour, n in hours], "answers_an_hour": recent}


def refresh_worker_stats(stage: Stage, worker_pks: Iterable[int]) -> None:
    """Recomputes the rows of these workers from their assignments and labels, void ones included.

    A blocked worker's labels are void, yet they stay the evidence for the block. What is held is no evidence yet.
    """
    pks = sorted(set(worker_pks))
    for start in range(0, len(pks), 500):
        _refresh_some(stage, pks[start : start + 500])


def _refresh_some(stage: Stage, pks: list[int]) -> None:
    seconds: dict[int, list[float | None]] = {}
    states: defaultdict[int, Counter[str]] = defaultdict(Counter)
    earned: defaultdict[int, Decimal] = defaultdict(Decimal)
    fees: defaultdict[int, Decimal] = defaultdict(Decimal)
    mine = Assignment.objects.filter(stage=stage, worker__in=pks)
    for worker, taken, state in mine.values_list("worker__pk", "seconds", "state"):
        seconds.setdefault(worker, []).append(taken)
        states[worker][state] += 1
    approved = mine.filter(state=Assignment.State.APPROVED)
    for worker, reward, unit_cost in approved.values_list("worker__pk", "hit__reward", "hit__unit_cost"):
        earned[worker] += reward
        fees[worker] += unit_cost - reward
    scores = {
        worker: (scored, correct)
        for worker, scored, correct in Label.objects.evidence()
        .filter(stage=stage, worker__in=pks, correct__isnull=False)
        .values_list("worker")
        .annotate(scored=Count("id"), right=Count("id", filter=Q(correct=True)))
        .order_by()
    }
    rows = [
        WorkerStat(
            stage=stage,
            worker_id=worker,
            answers=len(times),
            approved=states[worker][Assignment.State.APPROVED],
            rejected=states[worker][Assignment.State.REJECTED],
            scored=scores.get(worker, (0, 0))[0],
            correct=scores.get(worker, (0, 0))[1],
            median_seconds=median(known) if (known := [time for time in times if time is not None]) else None,
            earned=earned[worker],
            fees=fees[worker],
        )
        for worker, times in seconds.items()
    ]
    WorkerStat.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["stage", "worker"],
        update_fields=["answers", "approved", "rejected", "scored", "correct", "median_seconds", "earned", "fees"],
    )
