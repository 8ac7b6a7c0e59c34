"""Workers whom a requester keeps away from all its HITs."""

from datetime import datetime

from django.db import transaction

from marketplace.models import Requester, Worker, WorkerBlock
from marketplace.rules import limits
from marketplace.rules.errors import RequestError
from marketplace.verbs import workers

MOST_BLOCKS = 100_000


def block(requester: Requester, worker_id: str, reason: str, now: datetime) -> WorkerBlock:
    """Keep a worker away; for one who is blocked already, the new reason counts.

    A requester does not learn which ids there are: a block by one that nobody has is kept, and holds once somebody has
    it. What the worker has in hand may still be finished and submitted.
    """
    limits.check_length("Reason", reason, limits.FEEDBACK, blank=False)
    who = workers.by_id(worker_id)
    with transaction.atomic():
        # One at a time, so that the limit holds.
        Requester.objects.select_for_update(no_key=True).get(pk=requester.pk)
        blocks = WorkerBlock.objects.filter(requester=requester)
        if not blocks.filter(**who).exists() and blocks.count() >= MOST_BLOCKS:
            raise RequestError(f"{MOST_BLOCKS:,} workers are blocked already; more are not allowed.")
        made, _ = WorkerBlock.objects.update_or_create(
            requester=requester, **who, defaults={"reason": reason, "created_at": now}
        )
    return made


def unblock(requester: Requester, worker_id: str, reason: str = "") -> bool:
    """Let a worker in again; whether there was a block. One who is not blocked is no error."""
    limits.check_length("Reason", reason, limits.FEEDBACK)
    return WorkerBlock.objects.filter(requester=requester, **workers.by_id(worker_id)).delete()[0] > 0


def blocking_requesters(worker: Worker) -> set[int]:
    """Primary keys of the requesters whose HITs this worker neither sees nor gets."""
    return set(WorkerBlock.objects.filter(worker=worker).values_list("requester_id", flat=True))
