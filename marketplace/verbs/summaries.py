"""Measures what the list of work says about groups and requesters, off the path of the pages that say it."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from statistics import mean, median
from typing import Any

from django.db import transaction
from django.db.models import Count

from marketplace.models import Assignment, GroupSummary, Heartbeat, Hit, RequesterSummary
from marketplace.rules import lifecycle

_Status = Assignment.Status
_HEARTBEAT = "summaries"
# The clock's program measures so often; a page does it only when nobody has for much longer.
EVERY = timedelta(seconds=5)
LATE = timedelta(seconds=30)
# Times and judgements are read from the newest answers of the whole marketplace.
SAMPLE = 5000
# Nobody opens a page, reads it and answers in less: programs did, and people are not told a wage by what those took.
LEAST_SECONDS = 3.0


def refresh_when_older(age: timedelta, now: datetime) -> bool:
    """Measure again unless somebody did within `age`; of many callers at once, one does it."""
    mark, new = Heartbeat.objects.get_or_create(name=_HEARTBEAT, defaults={"at": now})
    if not new:
        # A time to come is one of a clock that was put back since.
        if abs(now - mark.at) <= age:
            return False
        if Heartbeat.objects.filter(pk=mark.pk, at=mark.at).update(at=now) != 1:
            return False
    refresh()
    return True


def refresh() -> None:
    """Count the open HITs of each group; measure groups and requesters that have new answers, leave the others."""
    times, judged = _newest_answers()
    with transaction.atomic():
        _count_open()
        groups = []
        for hit_type, values in times:
            seconds = median(values)
            groups.append(GroupSummary(hit_type_id=hit_type, seconds=seconds if seconds >= LEAST_SECONDS else None))
        _keep(GroupSummary, "hit_type", groups, ["seconds"])
        _keep(
            RequesterSummary,
            "requester",
            [_reputation(requester, judgements) for requester, judgements in judged],
            ["approval", "seconds"],
        )


def _count_open() -> None:
    counted = Hit.objects.filter(state=lifecycle.ASSIGNABLE).values_list("hit_type").annotate(Count("pk")).order_by()
    rows = [GroupSummary(hit_type_id=hit_type, open_hits=count) for hit_type, count in sorted(counted)]
    open_types = [row.pk for row in rows]
    GroupSummary.objects.filter(open_hits__gt=0).exclude(pk__in=open_types).update(open_hits=0)
    _keep(GroupSummary, "hit_type", rows, ["open_hits"])


def _keep(table: Any, key: str, rows: Iterable[Any], columns: list[str]) -> None:
    table.objects.bulk_create(rows, update_conflicts=True, unique_fields=[key], update_fields=columns)


def _newest_answers() -> tuple[list[tuple[int, list[float]]], list[tuple[int, list[Any]]]]:
    """Seconds of work by HIT type; (approved, seconds until judged) by requester. In the order of their keys."""
    newest: Any = (
        Assignment.objects.filter(status__in=Assignment.VISIBLE)
        .order_by("-pk")
        .values_list(
            "hit__hit_type", "hit__requester", "status", "accepted_at", "submitted_at", "approved_at", "rejected_at"
        )[:SAMPLE]
    )
    times: defaultdict[int, list[float]] = defaultdict(list)
    judged: defaultdict[int, list[Any]] = defaultdict(list)
    for hit_type, requester, status, accepted_at, submitted_at, approved_at, rejected_at in newest:
        times[hit_type].append((submitted_at - accepted_at).total_seconds())
        if status != _Status.SUBMITTED:
            waited = ((approved_at or rejected_at) - submitted_at).total_seconds()
            judged[requester].append((status == _Status.APPROVED, max(0.0, waited)))
    return sorted(times.items()), sorted(judged.items())


def _reputation(requester: int, judgements: list[tuple[bool, float]]) -> RequesterSummary:
    """Rounded down, so that 100 % means all."""
    approved = sum(kept for kept, _ in judgements)
    return RequesterSummary(
        requester_id=requester,
        approval=100 * approved // len(judgements),
        seconds=mean(waited for _, waited in judgements),
    )
