"""What a worker has earned, by day and row by row. Nothing here writes."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Count, Max, Min, Q, Sum
from django.db.models.functions import TruncDate

from marketplace.models import Assignment, BonusPayment, Payout, PayoutLine, Worker
from marketplace.models.assignments import REWARD
from marketplace.models.fields import MoneyField
from marketplace.site.queries import NO_MONEY, WORK_TIME, with_hits

_Status = Assignment.Status


def totals(days: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sums of by_day; when the waiting pays itself; dollars an hour, bonuses included."""
    sums = {name: sum((day[name] for day in days), NO_MONEY) for name in ("approved", "bonus", "waiting")}
    seconds = sum(day["paid_time"].total_seconds() for day in days if day["paid_time"])
    made = sums["approved"] + sums["bonus"]
    return sums | {
        "hourly": made * 3600 / Decimal(max(1.0, seconds)) if sums["approved"] else None,
        "pays_first": min((day["pays_first"] for day in days if day["pays_first"]), default=None),
        "pays_last": max((day["pays_last"] for day in days if day["pays_last"]), default=None),
    }


def by_day(worker: Worker, zone: ZoneInfo) -> list[dict[str, Any]]:
    """One row for each of the worker's days with submitted work or a bonus, the newest first."""
    days = {row["day"]: _NO_DAY | row for row in _answers_by_day(worker, zone)}
    bonuses = BonusPayment.objects.filter(worker=worker).annotate(day=TruncDate("created_at", tzinfo=zone))
    for row in bonuses.values("day").annotate(bonus=Sum("amount")).order_by():
        days[row["day"]] = days.get(row["day"], _NO_DAY) | row
    return [days[day] for day in sorted(days, reverse=True)]


_NO_DAY: dict[str, Any] = {
    "count": 0,
    "work_time": timedelta(),
    "paid_time": timedelta(),
    "pays_first": None,
    "pays_last": None,
    "approved": NO_MONEY,
    "waiting": NO_MONEY,
    "rejected": NO_MONEY,
    "bonus": NO_MONEY,
}


def _answers_by_day(worker: Worker, zone: ZoneInfo) -> Any:
    money = {
        name: Sum(REWARD, filter=Q(status=status), default=NO_MONEY, output_field=MoneyField())
        for name, status in (
            ("approved", _Status.APPROVED),
            ("waiting", _Status.SUBMITTED),
            ("rejected", _Status.REJECTED),
        )
    }
    answers = Assignment.objects.filter(worker=worker, status__in=Assignment.VISIBLE)
    by_day = answers.annotate(day=TruncDate("submitted_at", tzinfo=zone)).values("day").order_by()
    waiting = Q(status=_Status.SUBMITTED)
    return by_day.annotate(
        count=Count("pk"),
        work_time=Sum(WORK_TIME),
        paid_time=Sum(WORK_TIME, filter=Q(status=_Status.APPROVED)),
        pays_first=Min("auto_approval_at", filter=waiting),
        pays_last=Max("auto_approval_at", filter=waiting),
        **money,
    )


def bonuses_of(worker: Worker) -> Any:
    """Bonuses, the newest first."""
    rows = BonusPayment.objects.filter(worker=worker).select_related("requester", "assignment__hit__hit_type")
    return rows.defer("assignment__answer", "assignment__hit__question").order_by("-created_at", "-pk")


def payments_to(worker: Worker) -> Any:
    """What was paid out, and (below zero) taken back as a mistake, the newest first."""
    rows = PayoutLine.objects.filter(worker=worker, payout__state=Payout.State.PAID).select_related("payout")
    return rows.order_by("-payout__paid_at", "-pk")


COLUMNS = ("When", "What", "State", "HIT", "Requester", "Assignment", "Amount (USD)", "Note")


def movements(worker: Worker, zone: ZoneInfo) -> Iterator[Sequence[Any]]:
    """Answers, bonuses and payments, one after the other; fetched in pieces."""

    def when(moment: datetime) -> str:
        return moment.astimezone(zone).isoformat(timespec="seconds")

    answers = with_hits(Assignment.objects.filter(worker=worker, status__in=Assignment.VISIBLE)).order_by("pk")
    for row in answers.iterator():
        about = row.hit.hit_type.title, row.hit.requester.name, row.assignment_id
        yield when(row.submitted_at), "answer", row.status, *about, row.reward, row.requester_feedback
    for bonus in bonuses_of(worker).iterator():
        about = bonus.assignment.hit.hit_type.title, bonus.requester.name, bonus.assignment.assignment_id
        yield when(bonus.created_at), "bonus", "Paid to the account", *about, bonus.amount, bonus.reason
    for line in payments_to(worker).iterator():
        kind = "payment" if line.amount > 0 else "payment taken back"
        yield when(line.payout.paid_at), kind, "Paid out", "", "", "", line.amount, line.payout.reason
