"""What /metrics says of the requester's side beside its requests.

What all processes share, in Redis or in the database, every web process says alike: sums over processes are of requests
alone. The same few queries, whatever the number of rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from itertools import accumulate
from pathlib import Path

from celery import current_app
from django.conf import settings
from django.db.models import F, Min, Q, Sum
from django.utils import timezone
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily, Metric

from annotate import jobs, readiness
from common import metrics
from common.metrics import Part, bounded, gauge
from hits.models import Account, Hit, Project
from hits.mturk.calls import STEPS, Ending
from hits.notifications.jobs.needs import LITTLE
from hits.publishing.rules import stuck_rows
from hits.publishing.rules.marketplace_account import gateway


def queues() -> Iterator[Metric]:
    """What waits in each of the queues, and what workers have taken and not finished."""
    names = sorted(current_app.amqp.queues)
    ask = readiness.connection().pipeline(transaction=False)
    for name in names:
        ask.llen(name)
    ask.hlen("unacked")
    *lengths, taken = ask.execute()
    waiting = {name: float(length) for name, length in zip(names, lengths, strict=True)}
    yield gauge("annotate_queue_length", "Jobs that wait in the queue.", queue=waiting)
    yield gauge("annotate_queue_taken", "Jobs that workers hold, or that wait for their time.", float(taken))


def tasks() -> Iterator[Metric]:
    """How jobs ended and how long they took, and when beat and each job ran last."""
    outcomes = CounterMetricFamily("annotate_tasks", "Jobs by how they ended.", labels=["task", "outcome"])
    last: dict[str, float] = {}
    milliseconds: dict[str, int] = {}
    steps: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for field, value in jobs.counted().items():
        name, _, what = field.rstrip("=").partition(":")
        if name == "last":
            last[what] = float(value)
        elif what == "ms":
            milliseconds[name] = int(value)
        elif what.startswith("<"):
            steps[name][int(what[1:])] = int(value)
        else:
            outcomes.add_metric([name, what], int(value))
    beat = last.pop(jobs.BEAT, None)
    yield outcomes
    yield _durations("annotate_task_seconds", "Time that jobs took.", "task", milliseconds, steps)
    yield gauge("annotate_task_last_run_timestamp_seconds", "When a job of this name last ended.", task=last)
    if beat is not None:
        yield gauge("annotate_beat_last_run_timestamp_seconds", "When beat last handed a job to the queue.", beat)


def calls() -> Iterator[Metric]:
    """Calls to the marketplace, each attempt by itself."""
    found = gateway().calls_ever()
    attempts = CounterMetricFamily(
        "annotate_marketplace_calls", "Calls to the marketplace by how they ended.", labels=["operation", "outcome"]
    )
    for figures in found:
        for ending in Ending:
            attempts.add_metric([figures.operation, ending.value], figures.counts[ending.value])
    yield attempts
    milliseconds = {figures.operation: figures.milliseconds for figures in found}
    steps = {figures.operation: dict(figures.steps) for figures in found}
    yield _durations(
        "annotate_marketplace_call_seconds",
        "Time that they took; throttled ones left out.",
        "operation",
        milliseconds,
        steps,
    )
    pace = gateway().pace()
    yield gauge("annotate_marketplace_calls_a_second", "The rate that the account keeps to now.", pace.rate)


def _durations(
    name: str, what: str, label: str, milliseconds: dict[str, int], steps: dict[str, dict[int, int]]
) -> HistogramMetricFamily:
    made = HistogramMetricFamily(name, what, labels=[label])
    ends = [*(f"{step / 1000:g}" for step in STEPS), "+Inf"]
    for key, amounts in sorted(steps.items()):
        summed = accumulate(amounts.get(number, 0) for number in range(len(ends)))
        made.add_metric([key], list(zip(ends, map(float, summed), strict=True)), milliseconds.get(key, 0) / 1000)
    return made


@bounded
def harvest() -> Iterator[Metric]:
    now = timezone.now()
    first = Hit.objects.filter(due_at__isnull=False, hit_id__isnull=False).aggregate(due=Min("due_at"))["due"]
    late = max(0.0, (now - first).total_seconds()) if first else 0.0
    yield gauge("annotate_oldest_due_hit_seconds", "Since when the HIT that waits longest is to be fetched.", late)


@bounded
def money() -> Iterator[Metric]:
    sums = Account.objects.aggregate(budget=Sum("budget"), reserved=Sum("reserved"), paid=Sum("paid"))
    for name, what in (("budget", "Budgets"), ("reserved", "Reserved"), ("paid", "Paid")):
        said = f"{what} of all projects together, $."
        yield gauge(f"annotate_money_{name}_dollars", said, float(sums[name] or 0))
    left = F("account__budget") - F("account__reserved") - F("account__paid")
    poor = (
        Project.objects.filter(account__budget__gt=0)
        .annotate(left=left)
        .filter(left__lt=F("account__budget") * Decimal(LITTLE) / 100)
    )
    low = poor.with_state().filter(Q(("state__in", [Project.State.RUNNING, Project.State.PAUSED]))).count()
    yield gauge("annotate_projects_low_budget", f"Projects under way with less than {LITTLE} % of their budget.", low)


@bounded
def stuck() -> Iterator[Metric]:
    said = f"Rows that have not moved for {stuck_rows.STUCK_AFTER.seconds // 60} minutes and should have."
    yield gauge("annotate_stuck_rows", said, kind={kind: float(n) for kind, n in stuck_rows.counts().items()})


def disk() -> Iterator[Metric]:
    return metrics.disk({"data": Path(settings.DATA_DIR)})


PARTS: dict[str, Part] = {
    "queues": queues,
    "tasks": tasks,
    "calls": calls,
    "harvest": harvest,
    "money": money,
    "stuck": stuck,
    "disk": disk,
}
