"""Which HITs a worker may still take."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet

from marketplace.models import Assignment, Worker, WorkerBlock
from marketplace.models.hits import HitQuerySet


def for_worker(hits: HitQuerySet, worker: Worker | int) -> HitQuerySet:
    """Those that this worker has neither in hand nor handed in before, of requesters who do not block the worker."""
    taken = _of(worker).exclude(status__in=Assignment.GIVEN_BACK)
    return not_blocked(hits, worker).filter(~Exists(taken))


def untouched_by(hits: HitQuerySet, worker: Worker | int) -> HitQuerySet:
    """Those of `for_worker` that this worker never had in hand."""
    return not_blocked(hits, worker).filter(~Exists(_of(worker)))


def not_blocked(hits: HitQuerySet, worker: Worker | int) -> HitQuerySet:
    """Without those of requesters who block the worker."""
    return hits.exclude(requester__in=WorkerBlock.objects.filter(worker=worker).values("requester"))


def not_returned_by(hits: HitQuerySet, worker: Worker | int) -> HitQuerySet:
    """Without those that this worker returned: who cannot do one, a second reader say, returns it."""
    return hits.filter(~Exists(_of(worker).filter(status=Assignment.Status.RETURNED)))


def _of(worker: Worker | int) -> QuerySet[Assignment]:
    """The worker's assignments of a HIT, inside a query of HITs."""
    return Assignment.objects.filter(hit=OuterRef("pk"), worker=worker)
