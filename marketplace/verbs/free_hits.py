"""Which HITs a worker may still take."""

from __future__ import annotations

from django.db.models import Exists, OuterRef

from marketplace.models import Assignment, Worker, WorkerBlock
from marketplace.models.hits import HitQuerySet


def for_worker(hits: HitQuerySet, worker: Worker) -> HitQuerySet:
    """Those that this worker has neither in hand nor handed in before, of requesters who do not block the worker."""
    taken = Assignment.objects.filter(hit=OuterRef("pk"), worker=worker).exclude(status__in=Assignment.GIVEN_BACK)
    blocking = WorkerBlock.objects.filter(worker=worker).values("requester")
    return hits.filter(~Exists(taken)).exclude(requester__in=blocking)


def not_returned_by(hits: HitQuerySet, worker: Worker) -> HitQuerySet:
    """Without those that this worker returned: who cannot do one, a second reader say, returns it."""
    returned = Assignment.objects.filter(hit=OuterRef("pk"), worker=worker, status=Assignment.Status.RETURNED)
    return hits.filter(~Exists(returned))
