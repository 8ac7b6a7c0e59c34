"""The entries of a ledger by kind, stage, worker and day, and sums of bonuses and of compensations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from django.db import models
from django.db.models import Q, QuerySet

from hits.answers.models import Assignment
from hits.core.keyset import counted
from hits.payments.models import OPEN, Bonus, Compensation, LedgerEntry
from hits.projects.models import Project


@dataclass(frozen=True)
class EntryFilter:
    """Empty values choose all. `stage` is a stage's key, `worker` an id at the marketplace: entries of that worker's
    answers, bonuses and compensations. `since` and `until` are days in UTC, both of them included.
    """

    kind: str = ""
    stage: str = ""
    worker: str = ""
    since: date | None = None
    until: date | None = None

    @property
    def is_narrow(self) -> bool:
        return self != EntryFilter()


def chosen(project: Project, wanted: EntryFilter) -> QuerySet[LedgerEntry]:
    rows = project.ledger.all()
    if wanted.kind:
        rows = rows.filter(kind=wanted.kind)
    if wanted.stage:
        rows = rows.filter(stage__key=wanted.stage)
    if wanted.worker:
        rows = rows.filter(_of_worker(project, wanted.worker))
    if wanted.since:
        rows = rows.filter(created_at__gte=_begin(wanted.since))
    if wanted.until and wanted.until < date.max:
        rows = rows.filter(created_at__lt=_begin(wanted.until + timedelta(days=1)))
    return rows


def _of_worker(project: Project, worker: str) -> Q:
    answers = Assignment.objects.filter(stage__project=project, worker__worker_id=worker)
    bonuses = Bonus.objects.filter(project=project, worker__worker_id=worker)
    compensations = Compensation.objects.filter(project=project, worker_id=worker)
    return Q(assignment__in=answers) | Q(bonus__in=bonuses) | Q(compensation__in=compensations)


def _begin(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def kinds(project: Project, wanted: EntryFilter) -> list[tuple[str, str, str]]:
    """(value, title, how many) of all entries and of each kind, as the other filters choose them."""
    every = [("", "All"), *((kind.value, str(kind.label)) for kind in LedgerEntry.Kind)]
    return [(value, title, counted(chosen(project, replace(wanted, kind=value)))) for value, title in every]


@dataclass(frozen=True)
class Totals:
    """Of bonuses or compensations, in dollars. `waiting` holds fees too; `counts` are rows by state."""

    paid: Decimal
    fees: Decimal
    waiting: Decimal
    counts: dict[str, int]

    @property
    def count(self) -> int:
        return sum(self.counts.values())


def payment_totals(rows: models.QuerySet[Any]) -> Totals:
    """Sums of Bonus or of Compensation rows, in one query."""
    paid = fees = waiting = Decimal(0)
    counts: dict[str, int] = {}
    sums = {"n": models.Count("id"), "amounts": models.Sum("amount"), "charged": models.Sum("fee")}
    for row in rows.order_by().values("state").annotate(**sums):
        counts[row["state"]] = row["n"]
        if row["state"] == "paid":
            paid, fees = row["amounts"], row["charged"]
        elif row["state"] in OPEN:
            waiting += row["amounts"] + row["charged"]
    return Totals(paid, fees, waiting, counts)
