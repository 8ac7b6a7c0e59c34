"""What /metrics says of the marketplace beside its requests. The same few queries, whatever the number of rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db.models import Min
from prometheus_client.metrics_core import Metric

from common import metrics
from common.metrics import Part, bounded, gauge
from marketplace import readiness
from marketplace.models import Assignment, Hit, Notification
from marketplace.site.operator import queries
from marketplace.verbs import clock

_Status = Assignment.Status


@bounded
def work() -> Iterator[Metric]:
    now = clock.now()
    rows = {
        "hits_open": ("HITs with a free place.", Hit.objects.assignable(now)),
        "assignments_in_work": (
            "Assignments that workers hold.",
            Assignment.objects.filter(status=_Status.ACCEPTED, deadline__gte=now),
        ),
        "assignments_submitted": (
            "Answers that wait for their requester or for the time.",
            Assignment.objects.filter(status=_Status.SUBMITTED),
        ),
    }
    for name, (what, found) in rows.items():
        counted = queries.bounded(found).number
        yield gauge(f"marketplace_{name}", f"{what} Counted up to {queries.MOST_COUNTED:,}.", counted)


@bounded
def money() -> Iterator[Metric]:
    sums = queries.money_sums()
    for name, what in (
        ("held", "Held for places that nobody has answered yet"),
        ("charged", "Spent by requesters"),
        ("available", "Left to requesters"),
        ("owed", "Owed to workers"),
    ):
        yield gauge(f"marketplace_money_{name}_dollars", f"{what}, $.", float(sums[name]))


@bounded
def tick() -> Iterator[Metric]:
    age = readiness.tick_age()
    if age is not None:
        yield gauge("marketplace_tick_age_seconds", "Since the program tick last did what was due.", age)


@bounded
def deliveries() -> Iterator[Metric]:
    """Notifications to requesters: the outbox."""
    waiting = Notification.objects.filter(done_at=None)
    first = waiting.aggregate(due=Min("due_at"))["due"]
    age = max(0.0, (clock.now() - first).total_seconds()) if first else 0.0
    yield gauge("marketplace_deliveries_waiting", "Notifications not yet delivered.", queries.bounded(waiting).number)
    yield gauge("marketplace_deliveries_overdue_seconds", "Since the first of them was due.", age)


def disk() -> Iterator[Metric]:
    return metrics.disk({"data": Path(settings.DATA_DIR)})


PARTS: dict[str, Part] = {"work": work, "money": money, "tick": tick, "deliveries": deliveries, "disk": disk}
