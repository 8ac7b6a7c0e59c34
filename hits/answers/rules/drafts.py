"""How many drafts are kept, and how long. Whose they are is only claimed, so their number is bounded by the HIT."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.db.models import Exists, Max, OuterRef, QuerySet
from django.utils import timezone

from hits.answers.models import Assignment, Draft
from hits.publishing.models import Hit
from hits.stages.models import Stage

# Beyond a HIT's assignments: workers who return it leave a draft, too.
SPARE = 20
# A clock that differs, and a HIT that is opened again at this moment.
GRACE = timedelta(minutes=15)


def keep(hit: Hit, assignment_id: str, worker_id: str, **columns: object) -> bool:
    """Write these columns of the draft of this HIT, assignment and worker; whether there was room for one more."""
    columns["saved_at"] = timezone.now()
    if Draft.objects.filter(hit=hit, assignment_id=assignment_id, worker_id=worker_id).update(**columns):
        return True
    if hit.drafts.count() >= hit.max_assignments + SPARE and not forget_old(hit.stage, hits=[hit.pk]):
        return False
    Draft.objects.bulk_create(
        [Draft(hit=hit, assignment_id=assignment_id, worker_id=worker_id, **columns)],
        update_conflicts=True,
        unique_fields=["hit", "assignment_id", "worker_id"],
        update_fields=list(columns),
    )
    return True


def announced(hit: Hit) -> QuerySet[Draft]:
    """What the HIT's pages were about to send and nobody has fetched. Some of it may be invented."""
    here = Assignment.objects.filter(
        hit=hit, assignment_id=OuterRef("assignment_id"), worker__worker_id=OuterRef("worker_id")
    )
    return Draft.objects.filter(~Exists(here), hit=hit, sent_at__isnull=False)


def forget_old(stage: Stage, hits: Iterable[int] | None = None) -> int:
    """Delete the drafts to which no assignment of the stage can come back; returns how many.

    An assignment ends `assignment_seconds` after it was accepted, and its draft was saved after that. A closed HIT
    has no assignments at work.
    """
    now = timezone.now()
    rows = Draft.objects.filter(hit__stage=stage)
    if hits is not None:
        rows = rows.filter(hit__in=list(hits))
    longest = rows.aggregate(most=Max("hit__assignment_seconds"))["most"] or 0
    over = rows.filter(saved_at__lt=now - timedelta(seconds=longest) - GRACE)
    closed = rows.filter(saved_at__lt=now - GRACE, hit__state=Hit.State.CLOSED)
    return over.delete()[0] + closed.delete()[0]
