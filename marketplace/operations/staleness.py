"""Reads that lag behind, on demand: as the real service's did, for tests of programs that must live with it.

A read answers as of some seconds ago: HITs and submissions since then do not show, nor qualification types in lists;
counters and status are those of then. Judgements, changed expiries and added assignments show at once.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from marketplace.models import Assignment, Controls, Hit, QualificationType
from marketplace.operations import Call
from marketplace.rules.errors import DoesNotExist, InvalidState

_JUDGE = ("ApproveAssignment", "RejectAssignment")


def aged(call: Call, parameters: dict[str, Any]) -> Call:
    """The call as of the time that reads lag behind; refuses one about something that does not show yet."""
    seconds = Controls.objects.filter(pk=1).values_list("stale_seconds", flat=True).first()
    if not seconds:
        return call
    as_of = call.now - timedelta(seconds=seconds)
    _refuse_unseen(call, parameters, as_of)
    if call.operation.startswith(("Get", "List")):
        return replace(call, now=as_of, lag=call.now - as_of)
    return call


def _refuse_unseen(call: Call, parameters: dict[str, Any], as_of: datetime) -> None:
    reads = call.operation.startswith(("Get", "List"))
    hit_id, assignment_id = parameters.get("HITId", ""), parameters.get("AssignmentId", "")
    if reads and Hit.objects.filter(requester=call.requester, hit_id=hit_id, created_at__gt=as_of).exists():
        raise DoesNotExist("Hit", hit_id)
    unseen = Assignment.objects.filter(
        hit__requester=call.requester, assignment_id=assignment_id, submitted_at__gt=as_of
    )
    if assignment_id and unseen.exists():
        raise (
            InvalidState("Assignment", "null")
            if call.operation in _JUDGE
            else DoesNotExist("Assignment", assignment_id)
        )


def visible(call: Call, rows: QuerySet[Any]) -> QuerySet[Any]:
    """Without what has come since; `call` is a stale one."""
    if rows.model is Assignment:
        return rows.filter(submitted_at__lte=call.now)
    if rows.model is QualificationType:
        return rows.filter(created_at__lte=call.now)
    if rows.model is not Hit:
        return rows
    if call.operation == "ListReviewableHITs":
        # It became reviewable by its last answer or by its end: both must show already.
        later = Assignment.objects.filter(hit=OuterRef("pk"), ended_at__gt=call.now)
        rows = rows.filter(~Exists(later)).exclude(expires_at__gt=call.now, expires_at__lte=call.now + call.lag)
    return rows.filter(created_at__lte=call.now)


def rewound(call: Call, hits: list[Hit]) -> list[Hit]:
    """The HITs with the counters that they had then, in memory only; one query for all."""
    by_key = {hit.pk: hit for hit in hits}
    changed = Assignment.objects.filter(hit__in=by_key).filter(
        Q(accepted_at__gt=call.now)
        | Q(ended_at__gt=call.now)
        | Q(approved_at__gt=call.now)
        | Q(rejected_at__gt=call.now)
    )
    for row in changed:
        _move(by_key[row.hit_id], _counter(row, None), _counter(row, call.now))
    return hits


def _move(hit: Hit, source: str, target: str) -> None:
    if source:
        setattr(hit, source, getattr(hit, source) - 1)
    if target:
        setattr(hit, target, getattr(hit, target) + 1)


def _counter(row: Assignment, at: datetime | None) -> str:
    """The HIT's counter in which an assignment stands at that time, or now; empty for none."""

    def happened(moments: Iterable[datetime | None]) -> bool:
        return any(moment is not None and (at is None or moment <= at) for moment in moments)

    if not happened([row.accepted_at]):
        return ""
    if not happened([row.ended_at]):
        return "pending"
    if row.status in Assignment.GIVEN_BACK:
        return ""
    return "completed" if happened([row.approved_at, row.rejected_at]) else "submitted"
