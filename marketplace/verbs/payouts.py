"""Paying workers what they have earned: a draft says how much, then it is marked as paid, exactly once.

The money itself moves outside, through the payroll. Locks: the run first, then its workers in the
order of their keys; no other verb holds a worker and waits for a run.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from itertools import islice

from django.contrib.auth.models import User
from django.db.models import F, OuterRef, QuerySet, Subquery, Sum

from marketplace.models import Payout, PayoutLine, Worker
from marketplace.models.fields import CENT, money
from marketplace.rules.errors import AlreadyDone, RequestError
from marketplace.verbs.operators import act

_LINES_AT_ONCE = 1000
_State = Payout.State


def owing(minimum: Decimal = CENT) -> QuerySet[Worker]:
    """Workers who are owed at least `minimum` dollars; an account that was deleted has nobody to pay."""
    return Worker.objects.filter(erased_at=None, earned__gte=F("paid") + money(max(minimum, CENT)))


def draft(operator: User, workers: QuerySet[Worker], scope: str, now: datetime, token: str = "") -> Payout:
    """A run over all that `workers` are owed at this moment; `scope` says in words who they are.

    Changes nobody's balance. Raises RequestError when they are owed nothing.
    """
    with act(operator, "", now, token=token) as action:
        payout = Payout.objects.create(
            workers=0, total=Decimal(0), scope=scope, created_at=now, created_by=operator.get_username()
        )
        owed = workers.filter(earned__gt=F("paid")).order_by("pk").iterator(chunk_size=_LINES_AT_ONCE)
        _add_lines(payout, (PayoutLine(payout=payout, worker=worker, amount=worker.owed) for worker in owed))
        action.about = f"Prepared payout run {payout.pk}: {_size(payout)}"
    return payout


def pay(operator: User, payout_id: int, now: datetime) -> Payout:
    """Mark a draft as paid: the amounts that it shows, neither more nor less.

    Raises AlreadyDone for a run that is paid, RequestError when another run has paid some of the
    same money since: then nothing is marked.
    """
    with act(operator, "", now) as action:
        claimed = Payout.objects.filter(pk=payout_id, state=_State.DRAFT).update(
            state=_State.PAID, paid_at=now, paid_by=operator.get_username()
        )
        payout = _find(payout_id)
        if not claimed:
            raise AlreadyDone(f"Payout run {payout_id} was marked as paid before, by {payout.paid_by}.")
        _move(payout)
        action.about = f"Marked payout run {payout_id} as paid: {_size(payout)}"
    return payout


def drop(operator: User, payout_id: int, now: datetime) -> None:
    """Remove a draft; a run that is paid stays for good."""
    with act(operator, f"Dropped the draft of payout run {payout_id}", now):
        found = Payout.objects.select_for_update().filter(pk=payout_id).first()
        if found is not None and found.state == _State.PAID:
            raise AlreadyDone(f"Payout run {payout_id} was marked as paid before, by {found.paid_by}.")
        if found is None:
            raise AlreadyDone(f"There is no draft of payout run {payout_id} any more.")
        found.delete()


def undo(
    operator: User, payout_id: int, reason: str, now: datetime, token: str = "", line_id: int | None = None
) -> Payout:
    """Take a paid run back by a counter-run, or one line of it: these workers are owed the amounts again.

    Lines that were taken back before stay as they are. Raises AlreadyDone when nothing is left to take back.
    """
    if not reason.strip():
        raise RequestError("Say why the run is taken back: the reason is kept with it.")
    with act(operator, "", now, token=token) as action:
        # The lock makes a second undo see the lines of the first.
        original = Payout.objects.select_for_update().filter(pk=payout_id, reverses=None, state=_State.PAID).first()
        if original is None:
            raise RequestError(f"Run {payout_id} is not a paid run, so there is nothing to take back.")
        lines = original.lines.filter(undone_by=None)
        payout = _counter_run(operator, original, reason.strip(), now)
        if line_id is not None:
            lines = lines.filter(pk=line_id)
        paid = lines.select_related("worker").order_by("worker").iterator(chunk_size=_LINES_AT_ONCE)
        _add_lines(
            payout, (PayoutLine(payout=payout, worker=line.worker, amount=-line.amount, undoes=line) for line in paid)
        )
        _move(payout)
        action.about = f"Took back payout run {payout_id} by run {payout.pk}: {_size(payout)}. {payout.reason}"
    return payout


def _counter_run(operator: User, original: Payout, reason: str, now: datetime) -> Payout:
    return Payout.objects.create(
        state=_State.PAID,
        workers=0,
        total=Decimal(0),
        scope=f"Takes back run {original.pk}",
        reverses=original,
        reason=reason,
        created_at=now,
        created_by=operator.get_username(),
        paid_at=now,
        paid_by=operator.get_username(),
    )


def _find(payout_id: int) -> Payout:
    found = Payout.objects.filter(pk=payout_id).first()
    if found is None:
        raise RequestError(f"There is no payout run {payout_id}: its draft was dropped.")
    return found


def _add_lines(payout: Payout, lines: Iterable[PayoutLine]) -> None:
    for batch in _batches(lines):
        PayoutLine.objects.bulk_create(batch)
        payout.workers += len(batch)
    if not payout.workers:
        if payout.reverses_id:
            raise AlreadyDone("All of it was taken back before.")
        raise RequestError("Nobody is owed that much, so there is nothing to pay.")
    payout.total = payout.lines.aggregate(total=Sum("amount"))["total"]
    payout.save(update_fields=["workers", "total"])


def _batches(lines: Iterable[PayoutLine]) -> Iterator[list[PayoutLine]]:
    rest = iter(lines)
    while batch := list(islice(rest, _LINES_AT_ONCE)):
        yield batch


def _move(payout: Payout) -> None:
    """Put the run's amounts into Worker.paid, for all its workers or none."""
    workers = Worker.objects.filter(pk__in=payout.lines.values("worker"))
    # In one order, so that two runs over the same workers wait for each other and never in a circle.
    list(workers.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
    amount = Subquery(PayoutLine.objects.filter(payout=payout, worker=OuterRef("pk")).values("amount"))
    moved = workers.filter(earned__gte=F("paid") + amount).update(paid=F("paid") + amount)
    if moved != payout.workers:
        raise RequestError(
            f"Another run has paid {payout.workers - moved:,} of these {payout.workers:,} workers in the meantime. "
            "Nothing was marked. Drop this draft and prepare a new one."
        )


def _size(payout: Payout) -> str:
    noun = "worker" if payout.workers == 1 else "workers"
    sign = "-" if payout.total < 0 else ""
    return f"{payout.workers:,} {noun}, {sign}${abs(payout.total):,.2f}"
