"""Bonuses: each that was ordered is paid exactly once.

A row says that its call was sent before it is sent. One whose outcome is unknown is looked for among the payments of
its answer first, and only then asked for again, with the same token.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from hits.core.jobs.leases import lease
from hits.core.jobs.outbox import (
    CHUNK,
    LEASE_SECONDS,
    WAIT_FOR_MONEY,
    carry_out,
    is_due,
    longer_wait,
    mark_sent,
    standing,
    why_it_waits,
)
from hits.models import Bonus, Project
from hits.mturk.errors import (
    AlreadyDoneError,
    GoneError,
    InsufficientFundsError,
    MarketplaceError,
    NotYetError,
    UnreachableError,
)
from hits.mturk.gateway import Gateway
from hits.payments.rules.ledger import pay_payment, release_payment
from hits.publishing.rules.marketplace_account import READS_LAG, gateway

WAITING = [Bonus.State.PLANNED, Bonus.State.SENT]

Outcome = datetime | MarketplaceError


@dataclass(frozen=True)
class _Call:
    """What a thread needs: no database there. `alike` counts the paid rows that look the same as this one."""

    row: Bonus
    is_unknown: bool
    alike: int


def send(project: Project) -> int:
    """Make the calls of the project's bonuses that have no outcome yet; returns how many got one.

    Stops where the marketplace does not answer or has no money; calling it again goes on. Another process at the
    same project makes it return 0.
    """
    with lease(f"bonuses:{project.pk}", seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        market = gateway()
        settled = 0
        try:
            for count in carry_out(
                market,
                held,
                rows=lambda: _next(project),
                call=lambda call: _pay(call, market),
                record=lambda outcomes: _record(project, outcomes),
                stop_at=(UnreachableError, InsufficientFundsError),
            ):
                settled += count
        except UnreachableError:
            # The rows say so.
            pass
        except InsufficientFundsError as error:
            _wait_for_money(project, error)
        return settled


def _due(rows: QuerySet[Bonus]) -> QuerySet[Bonus]:
    return rows.filter(is_due(), state__in=WAITING)


def _next(project: Project) -> list[_Call]:
    """The next rows, marked as sent. One of each answer: twins that look the same must not be looked for at once."""
    rows = _due(project.bonuses.select_related("assignment", "worker", "project").defer("assignment__answer"))
    first: dict[int, Bonus] = {}
    for row in rows.order_by("id")[:CHUNK]:
        first.setdefault(row.assignment_id, row)
    calls = [_Call(row, row.state == Bonus.State.SENT, _paid_alike(row)) for row in first.values()]
    asked = Bonus.objects.filter(pk__in=[call.row.pk for call in calls], state__in=WAITING)
    mark_sent(asked, state=Bonus.State.SENT, not_before=None)
    return calls


def _paid_alike(row: Bonus) -> int:
    if row.state != Bonus.State.SENT:
        return 0
    twins = Bonus.objects.filter(assignment=row.assignment_id, worker=row.worker_id, state=Bonus.State.PAID)
    return sum((twin.amount, twin.reason) == (row.amount, row.reason) for twin in twins)


def _pay(call: _Call, market: Gateway) -> datetime:
    """When it was paid. However old the row is, looking comes first: a token forgets what it paid after 24 hours."""
    if call.is_unknown:
        paid_at = _look(call, market)
        if paid_at:
            return paid_at
    row = call.row
    with suppress(AlreadyDoneError):
        market.send_bonus(row.worker.worker_id, row.assignment.assignment_id, row.amount, row.reason, row.token)
    return timezone.now()


def _look(call: _Call, market: Gateway) -> datetime | None:
    row = call.row
    wanted = (row.worker.worker_id, row.amount, row.reason)
    try:
        paid = market.bonuses(assignment_id=row.assignment.assignment_id)
    except GoneError:
        return None
    times = sorted(one.granted_at for one in paid if (one.worker_id, one.amount, one.reason) == wanted)
    return times[-1] if len(times) > call.alike else None


def _record(project: Project, outcomes: Sequence[tuple[_Call, Outcome]]) -> int:
    """Write down what is known, money and state together; returns how many rows are settled by it."""
    with transaction.atomic():
        waiting = standing(Bonus.objects.filter(state__in=WAITING), [call.row.pk for call, _ in outcomes])
        changed = [(waiting[call.row.pk], call, outcome) for call, outcome in outcomes if call.row.pk in waiting]
        for row, call, outcome in changed:
            _note(row, call, outcome)
        fields = ["state", "paid_at", "attempted_at", "not_before", "error"]
        Bonus.objects.bulk_update([row for row, _, _ in changed], fields, batch_size=500)
        settled = [(row.state, call.row) for row, call, _ in changed if row.state not in WAITING]
        project.account.post(
            pay_payment(row) if state == Bonus.State.PAID else release_payment(row, "refused") for state, row in settled
        )
    return len(settled)


def _note(row: Bonus, call: _Call, outcome: Outcome) -> None:
    """A call that did nothing leaves the row as unknown as it was: the one before may still have paid."""
    undone = Bonus.State.SENT if call.is_unknown else Bonus.State.PLANNED
    if isinstance(outcome, datetime):
        row.state, row.paid_at, row.error = Bonus.State.PAID, outcome, ""
    elif isinstance(outcome, UnreachableError):
        row.error = why_it_waits(outcome)
    elif isinstance(outcome, InsufficientFundsError):
        row.state, row.error = undone, why_it_waits(outcome)
        row.attempted_at = row.attempted_at if call.is_unknown else None
        row.not_before = timezone.now() + WAIT_FOR_MONEY
    elif _may_be_lag(row, outcome):
        row.state, row.not_before = undone, timezone.now() + longer_wait(_waited(row))
        row.error = "The marketplace does not show this answer yet. It is asked again for up to 15 minutes."
    else:
        row.state, row.error = Bonus.State.REFUSED, str(outcome)


def _may_be_lag(row: Bonus, outcome: MarketplaceError) -> bool:
    missing = isinstance(outcome, NotYetError) or (isinstance(outcome, GoneError) and "Assignment" in outcome.code)
    return missing and _waited(row) < READS_LAG


def _waited(row: Bonus) -> timedelta:
    return timezone.now() - (row.attempted_at or timezone.now())


def _wait_for_money(project: Project, error: InsufficientFundsError) -> None:
    """One refused for want of money stands for all: the rest would only be refused too."""
    planned = project.bonuses.filter(state=Bonus.State.PLANNED)
    planned.update(not_before=timezone.now() + WAIT_FOR_MONEY, error=why_it_waits(error))


def unfinished() -> list[int]:
    """Projects with bonuses that a crash, an absent marketplace or want of money left and that are due now."""
    return sorted(set(_due(Bonus.objects.all()).order_by().values_list("project", flat=True).distinct()))
