"""What becomes of one answer. The callers hold the locks (see lock) and have checked the state."""

from datetime import datetime

from django.db.models import F, QuerySet

from common.prepared import Prepared
from marketplace.models import Assignment, Hit, Worker
from marketplace.models.fields import money as amount
from marketplace.verbs import events, hits, money

_Status = Assignment.Status


def lock(pk: int, hit_pk: int) -> Assignment:
    """The assignment under lock, its HIT first, so that the counters cannot move in between."""
    hit = hits.locked_by_pk(hit_pk)
    assignment = _locked(pk=pk)[0]
    assignment.hit = hit
    return assignment


@Prepared
def _locked(pk: int) -> QuerySet[Assignment]:
    return Assignment.objects.select_for_update(of=("self",), no_key=True).filter(pk=pk)


def approve(assignment: Assignment, approved_at: datetime, now: datetime, feedback: str | None = None) -> None:
    assignment.status = _Status.APPROVED
    assignment.approved_at = approved_at
    save(assignment, "approved_at", feedback)
    events.record("AssignmentApproved", assignment.hit, approved_at, assignment)
    _count_as_completed(assignment.hit, now)
    Worker.objects.filter(pk=assignment.worker_id).update(
        approved_count=F("approved_count") + 1, earned=F("earned") + amount(assignment.reward)
    )
    money.charge(assignment.hit.requester_id, assignment.cost, now, assignment)


def reject(assignment: Assignment, now: datetime, feedback: str) -> None:
    hit = assignment.hit
    assignment.status = _Status.REJECTED
    assignment.rejected_at = now
    save(assignment, "rejected_at", feedback)
    events.record("AssignmentRejected", hit, now, assignment)
    _count_as_completed(hit, now)
    Worker.objects.filter(pk=assignment.worker_id).update(rejected_count=F("rejected_count") + 1)
    money.release(hit.requester_id, assignment.cost, now, hit, assignment)


def _count_as_completed(hit: Hit, now: datetime) -> None:
    hit.submitted -= 1
    hit.completed += 1
    hits.save_counters(hit, now, ["submitted", "completed"])


def save(assignment: Assignment, time_field: str, feedback: str | None, *more: str) -> None:
    fields = ["status", time_field, *more]
    if feedback is not None:
        assignment.requester_feedback = feedback
        fields.append("requester_feedback")
    assignment.save(update_fields=fields)
