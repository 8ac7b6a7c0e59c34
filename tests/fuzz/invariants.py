"""What must hold in the marketplace's tables whatever was asked of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime
from decimal import Decimal

from django.db.models import Count, Sum

from marketplace.models import Assignment, BonusPayment, Hit, MoneyEntry, PayoutLine, Requester, Worker

ZERO = Decimal(0)


def broken(swept_at: datetime) -> list[str]:
    """A sentence for each counter or balance that is not what the rows say, and for what the clock has left undone."""
    rows = list(Assignment.objects.select_related("hit__hit_type"))
    return [*_counters(), *_standings(rows), *_balances(rows), *_earnings(rows), *_ids(swept_at)]


def _counters() -> list[str]:
    found = []
    statuses: dict[int, Counter[str]] = defaultdict(Counter)
    for hit, status, count in Assignment.objects.values_list("hit", "status").annotate(Count("pk")).order_by():
        statuses[hit][status] = count
    for hit in Hit.objects.all():
        now = statuses[hit.pk]
        kept = (hit.pending, hit.submitted, hit.completed)
        true = (now["Accepted"], now["Submitted"], now["Approved"] + now["Rejected"])
        if kept != true or hit.available < 0:
            found.append(f"HIT {hit.hit_id} counts {kept}, its assignments are {true}, {hit.available} are free")
    return found


def _standings(rows: list[Assignment]) -> list[str]:
    statuses: dict[int, Counter[str]] = defaultdict(Counter)
    for row in rows:
        statuses[row.worker_id][row.status] += 1
    found = []
    for worker in Worker.objects.all():
        now = statuses[worker.pk]
        kept = (worker.submitted_count, worker.approved_count, worker.rejected_count)
        true = (now["Submitted"] + now["Approved"] + now["Rejected"], now["Approved"], now["Rejected"])
        if kept != true:
            found.append(f"worker {worker.worker_id} counts {kept}, the answers are {true}")
    return found


def _balances(rows: list[Assignment]) -> list[str]:
    entries: dict[int, Counter[str]] = defaultdict(Counter)
    for requester, kind, total in MoneyEntry.objects.values_list("requester", "kind").annotate(Sum("amount")):
        entries[requester][kind] = total
    needed: dict[int, Decimal] = defaultdict(Decimal)
    for hit in Hit.objects.filter(disposed_at=None).select_related("hit_type"):
        needed[hit.requester_id] += hit.cost * hit.available
    for row in rows:
        if row.status == "Accepted":
            # A HIT that has moved to another type holds for the dearer of the two promises.
            needed[row.hit.requester_id] += max(row.cost, row.hit.cost)
        elif row.status == "Submitted":
            needed[row.hit.requester_id] += row.cost
    found = []
    for requester in Requester.objects.all():
        sums = entries[requester.pk]
        kept = (requester.funds, requester.held, requester.charged)
        true = (
            sums["deposit"] or ZERO,
            (sums["hold"] or ZERO) - sums["charge"] - sums["release"],
            (sums["charge"] or ZERO) + sums["bonus"],
        )
        if kept != true:
            found.append(f"{requester.name} has {kept}, the entries say {true}")
        if requester.held != needed[requester.pk]:
            found.append(f"{requester.name} holds {requester.held}, the HITs need {needed[requester.pk]}")
        if requester.available < 0:
            found.append(f"{requester.name} has {requester.available} left")
    return found


def _earnings(rows: list[Assignment]) -> list[str]:
    due: dict[int, Decimal] = defaultdict(Decimal)
    for row in rows:
        if row.status == "Approved":
            due[row.worker_id] += row.reward
    for worker, amount in BonusPayment.objects.values_list("worker").annotate(Sum("amount")):
        due[worker] += amount
    paid = dict(PayoutLine.objects.filter(payout__state="paid").values_list("worker").annotate(Sum("amount")))
    found = []
    for worker in Worker.objects.all():
        if worker.earned != due[worker.pk]:
            found.append(f"worker {worker.worker_id} has earned {worker.earned}, the answers pay {due[worker.pk]}")
        if worker.paid != paid.get(worker.pk, ZERO):
            found.append(f"worker {worker.worker_id} was paid {worker.paid}, the runs say {paid.get(worker.pk)}")
    return found


def _ids(swept_at: datetime) -> list[str]:
    live = Assignment.objects.exclude(status__in=Assignment.GIVEN_BACK)
    twice = live.values_list("assignment_id").annotate(count=Count("pk")).filter(count__gt=1)
    overdrawn = Hit.objects.filter(disposed_at=None, expires_at__lte=swept_at, state="Assignable").count()
    return [f"assignment {name} has {count} holders" for name, count in twice] + ["expired HITs are offered"] * (
        overdrawn > 0
    )
