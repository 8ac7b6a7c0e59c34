"""Which answers are approved without a lead: at once what passed, after a while some of what did not.

An answer passed when the protocol's check took it and its worker was eligible to give it, not too fast, and in time.
The marketplace approves by itself only what nobody has decided for as long as it allows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from hits.answers.models import Assignment
from hits.stages.models import Stage

# The longest that the marketplace allows: where answers are checked here, it is the last resort.
LAST_RESORT = 30 * 86_400
PASSED = Q(problem="") & (Q(held="") | Q(admitted=True))
# Answers about which nobody has decided, in stages whose answers are approved once checked.
WAITING = Q(
    state=Assignment.State.SUBMITTED,
    decision="",
    scored=True,
    stage__approval=Stage.Approval.AUTOMATIC,
    stage__auto_approval_seconds__gt=0,
)


def marketplace_delay(stage: Stage) -> int:
    """Seconds until the marketplace approves by itself; the HITs of the stage are published with it."""
    checked = stage.approval == Stage.Approval.AUTOMATIC and stage.auto_approval_seconds
    return LAST_RESORT if checked else stage.auto_approval_seconds


def decide(assignment_pks: Iterable[int]) -> None:
    """Decide to approve those that passed, and say when the others are approved. Within a transaction that has locked
    the answers and their workers; `hits.answers.verbs.reviewing` makes the calls.
    """
    waiting = Assignment.objects.filter(WAITING, pk__in=list(assignment_pks))
    passed = list(waiting.filter(PASSED).values_list("pk", flat=True))
    Assignment.objects.filter(pk__in=passed).update(decision=Assignment.State.APPROVED, approve_at=None)
    others = waiting.filter(approve_at=None).select_related("stage").defer("answer")
    for row in others.order_by("submitted_at", "pk"):
        given = Assignment.objects.filter(stage=row.stage_id, worker=row.worker_id, approve_at__isnull=False)
        if given.count() < row.stage.unchecked_answers:
            row.approve_at = row.submitted_at + timedelta(seconds=row.stage.auto_approval_seconds)
            row.save(update_fields=["approve_at"])


def due() -> QuerySet[Assignment]:
    """The answers whose time for a lead is over."""
    return Assignment.objects.filter(
        state=Assignment.State.SUBMITTED, decision="", approve_at__isnull=False, approve_at__lte=timezone.now()
    )


def for_leads_alone(stages: Collection[Stage]) -> Counter[int]:
    """Stage to how many answers wait that are not approved by time before the marketplace does it as a last resort."""
    rows = Assignment.objects.filter(WAITING, stage__in=stages, approve_at=None)
    return Counter(rows.order_by().values_list("stage", flat=True))
