"""Writing down who shall have a qualification of a project, or no longer; `qualification_calls` makes the calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from hits.formats.inputs.payments import read_worker_id
from hits.models import Grant, Project, Worker
from hits.refusals import Refused

State = Grant.State
MOST_WORKERS = 1000
# Faults of one list that are shown.
SHOWN = 5


def lease_name(project_pk: int) -> str:
    """Who holds it gives and takes back qualifications of the project; nobody else does meanwhile."""
    return f"grants:{project_pk}"


def read_workers(worker_ids: Iterable[str], most: int = MOST_WORKERS) -> list[str]:
    """Each once, in their order. Raises Refused (workers_refused)."""
    wanted = list(dict.fromkeys(text for one in worker_ids if (text := one.strip())))
    if not wanted:
        raise Refused("workers_refused", "Write at least one worker id, one a line.", status=400)
    if len(wanted) > most:
        raise Refused(
            "workers_refused", f"These are {len(wanted):,} workers; give at most {most:,} at once.", status=400
        )
    faults = [fault for one in wanted if (fault := _fault(one))]
    if faults:
        rest = f" And {len(faults) - SHOWN:,} more." if len(faults) > SHOWN else ""
        raise Refused("workers_refused", " ".join(faults[:SHOWN]) + rest, status=400)
    return wanted


def _fault(text: str) -> str:
    try:
        read_worker_id(text)
    except ValueError as error:
        return str(error)
    return ""


def worker_pks(worker_ids: Sequence[str]) -> dict[str, int]:
    """Worker id to row, of which those that were missing are made; in the order of the rows."""
    Worker.objects.bulk_create([Worker(worker_id=one) for one in worker_ids], ignore_conflicts=True, batch_size=1000)
    found: dict[str, int] = {}
    for start in range(0, len(worker_ids), 1000):
        some = Worker.objects.filter(worker_id__in=worker_ids[start : start + 1000]).order_by("pk")
        found |= dict(some.values_list("worker_id", "pk"))
    return found


def intend(project: Project, key: str, worker_ids: Sequence[str], user: User | None, value: int = 1) -> int:
    """Write down that these workers shall have it; returns how many did not. Who has it keeps it as it is.

    A grant that the marketplace refused is tried again.
    """
    workers = sorted(worker_pks(worker_ids).values())
    with transaction.atomic():
        return sum(
            _intend(project, key, workers[start : start + 500], user, value) for start in range(0, len(workers), 500)
        )


def _intend(project: Project, key: str, workers: Sequence[int], user: User | None, value: int) -> int:
    rows = Grant.objects.filter(project=project, key=key, worker__in=workers)
    turned = rows.filter(state=State.WITHDRAWING).update(
        state=State.INTENDED, withdrawn_at=None, error="", stage=None, created_by=user, value=value
    )
    rows.filter(state=State.INTENDED).update(error="")
    standing = set(rows.exclude(state=State.WITHDRAWN).values_list("worker", flat=True))
    return turned + write(project, key, [pk for pk in workers if pk not in standing], created_by=user, value=value)


def write(project: Project, key: str, workers: Sequence[int], **columns: object) -> int:
    """Another process may write the same: each worker has one standing grant of a qualification."""
    rows = [Grant(project=project, key=key, worker_id=pk, **columns) for pk in workers]
    Grant.objects.bulk_create(rows, batch_size=2000, ignore_conflicts=True)
    return len(rows)


def intend_withdrawal(row: Grant) -> bool:
    """Write down that the worker shall not have it any more; False when that is so already."""
    standing = Grant.objects.filter(pk=row.pk, state__in=[State.INTENDED, State.GRANTED])
    return bool(standing.update(state=State.WITHDRAWING, withdrawn_at=timezone.now(), error=""))
