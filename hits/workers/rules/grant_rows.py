"""Writing down who shall have a qualification of a project, or no longer, and the calls that carry it out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from hits.core.jobs.leases import Held
from hits.core.jobs.outbox import carry_out
from hits.formats.inputs.payments import read_worker_id
from hits.models import Block, Grant, Project, Worker
from hits.mturk.errors import (
    GoneError,
    MarketplaceError,
    NotYetError,
    RefusedError,
    UnreachableError,
    WrongStateError,
)
from hits.mturk.gateway import Gateway
from hits.publishing.rules.hit_types import own_qualification
from hits.publishing.rules.marketplace_account import gateway, sentence
from hits.refusals import Refused

State = Grant.State
MOST_WORKERS = 1000
# Faults of one list that are shown.
SHOWN = 5
Row = TypeVar("Row", Block, Grant)
Outcome = None | MarketplaceError


def lease_name(project_pk: int) -> str:
    """Who holds it gives and takes back qualifications of the project; nobody else does meanwhile."""
    return f"grants:{project_pk}"


def read_workers(worker_ids: Iterable[str], most: int = MOST_WORKERS) -> list[str]:
    """Each once, in their order. Raises Refused (workers_refused)."""
    wanted = list(dict.fromkeys(text for one in worker_ids if (text := one.strip())))
    if not wanted:
        raise _refused("Write at least one worker id, one a line.")
    if len(wanted) > most:
        raise _refused(f"These are {len(wanted):,} workers; give at most {most:,} at once.")
    faults = [fault for one in wanted if (fault := _fault(one))]
    if faults:
        rest = f" And {len(faults) - SHOWN:,} more." if len(faults) > SHOWN else ""
        raise _refused(" ".join(faults[:SHOWN]) + rest)
    return wanted


def _refused(sentence: str) -> Refused:
    return Refused("workers_refused", sentence, field="worker_ids", status=400)


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


# Calls


@dataclass(frozen=True)
class QualificationCalls(Generic[Row]):
    """A kind of row and its states: `give` and `take` wait for a call, `given` and `taken` are what it leads to.

    `taken_at` is the column that says when, `key` names a row's qualification, `value` is what it is granted with, and
    `reason` is what the worker reads who loses it.
    """

    give: str
    given: str
    take: str
    taken: str
    taken_at: str
    reason: str
    key: Callable[[Row], str]
    value: Callable[[Row], int] = lambda row: 1

    def carry_out(self, project: Project, rows: QuerySet[Row], held: Held) -> Iterator[int]:
        """Make the calls that rows wait for, also of those written meanwhile; yields how many each round made.

        Raises UnreachableError when the marketplace does not answer, or NotYetError; what was made is recorded.
        """
        market = gateway()
        types: dict[str, str | MarketplaceError] = {}
        tried = set[tuple[int, str]]()
        waiting = rows.filter(state__in=[self.give, self.take]).select_related("worker").order_by("id")

        def untried() -> list[Row]:
            todo = [row for row in waiting.all() if (row.pk, row.state) not in tried]
            tried.update((row.pk, row.state) for row in todo)
            for key in sorted({self.key(row) for row in todo}):
                types[key] = _type_id(project, key, market)
            return todo

        yield from carry_out(
            market,
            held,
            rows=untried,
            call=lambda row: self._call(row, types[self.key(row)], market),
            record=lambda outcomes: sum(self._record(row, outcome) for row, outcome in outcomes),
            stop_at=(UnreachableError, NotYetError),
        )

    def _call(self, row: Row, made: str | MarketplaceError, market: Gateway) -> None:
        if isinstance(made, MarketplaceError):
            raise made
        if row.state == self.give:
            market.grant(made, row.worker.worker_id, self.value(row))
        else:
            _revoke(market, made, row.worker.worker_id, self.reason)

    def _record(self, row: Row, outcome: Outcome) -> int:
        """A row that turned meanwhile stays as it is: the other call comes next."""
        standing = type(row)._default_manager.filter(pk=row.pk, state=row.state)
        if row.state == self.give and isinstance(row, Grant):
            # Another value that was written meanwhile is still to be told.
            standing = standing.filter(value=row.value)
        if isinstance(outcome, UnreachableError | NotYetError):
            return 0
        if isinstance(outcome, MarketplaceError):
            standing.update(error=sentence(outcome))
            return 0
        if row.state == self.give:
            return standing.update(state=self.given, error="")
        return standing.update(state=self.taken, error="", **{self.taken_at: timezone.now()})


def _type_id(project: Project, key: str, market: Gateway) -> str | MarketplaceError:
    try:
        return own_qualification(project, key, market)
    except RefusedError as error:
        return error


def _revoke(market: Gateway, qualification: str, worker_id: str, reason: str) -> None:
    """A worker who does not hold it any more, never did, or is not there at all, is what was wanted."""
    try:
        market.revoke(qualification, worker_id, reason)
    except (GoneError, WrongStateError):
        pass
    except RefusedError as error:
        if "Granted" not in error.message and "does not exist" not in error.message:
            raise
