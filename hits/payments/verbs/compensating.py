"""Compensating: a worker who could not submit is paid through a HIT that nobody else sees.

The worker is granted the project's qualification “compensation” with the compensation's own number, and one HIT
asks for that number. Every step is harmless to repeat, and the row says which are done: a crash at any point is
made good by going through the steps again. The reward is reserved when it is ordered, and paid or released when the
HIT's end is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from hits.core.jobs.leases import Held, lease
from hits.core.jobs.outbox import WAIT_FOR_MONEY, mark_sent, why_it_waits
from hits.models import Compensation, Project, Qualification
from hits.mturk import fees
from hits.mturk.errors import (
    AlreadyDoneError,
    AlreadyExistsError,
    GoneError,
    InsufficientFundsError,
    NotYetError,
    RefusedError,
    UnreachableError,
    WrongStateError,
)
from hits.mturk.gateway import Gateway, HitTypeSpec, RemoteAssignment, RemoteHit
from hits.mturk.question import one_choice_form
from hits.payments.rules.commitments import BalanceTooLowError, planned_cost
from hits.payments.rules.ledger import pay_payment, release_payment, reserve_payment
from hits.publishing.rules.marketplace_account import balance, gateway, if_there
from hits.publishing.rules.restorations import why_calls_wait
from hits.refusals import Refused

QUALIFICATION = "compensation"
LEASE_SECONDS = 120
LIFETIME = timedelta(days=14)
ASSIGNMENT_SECONDS = 600
FIRST_LOOK, RAREST_LOOK = timedelta(seconds=30), timedelta(hours=2)

State = Compensation.State


@dataclass(frozen=True)
class CompensationQuote:
    """What it would cost, in dollars; `problems` are sentences that stop it."""

    worker_id: str
    amount: Decimal
    reason: str
    fee: Decimal
    total: Decimal
    budget_left: Decimal
    balance: Decimal | None
    planned: Decimal
    open_until: datetime
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


# Price and order


def quote(project: Project, worker_id: str, amount: Decimal, reason: str) -> CompensationQuote:
    fee = fees.bonus_fee(amount)
    project.account.refresh_from_db()
    found = CompensationQuote(
        worker_id=worker_id,
        amount=amount,
        reason=reason,
        fee=fee,
        total=amount + fee,
        budget_left=project.account.left,
        balance=balance(),
        planned=planned_cost(),
        open_until=timezone.now() + LIFETIME,
    )
    found.problems.extend(_problems(project, found))
    before = project.compensations.filter(worker_id=worker_id, state=State.PAID)
    if any((row.amount, row.reason) == (amount, reason) for row in before):
        found.warnings.append("The same amount for the same reason was paid to this worker before.")
    return found


def _problems(project: Project, found: CompensationQuote) -> Iterator[str]:
    if _open(project, found.worker_id):
        yield _already(found.worker_id)
    if found.total > found.budget_left:
        yield (
            f"This needs ${found.total:,.2f} and ${found.budget_left:,.2f} of the budget is left. "
            "Raise the project's budget or pay less."
        )
    if why := why_calls_wait():
        yield why
    if found.balance is not None and found.total > found.balance - found.planned:
        yield str(BalanceTooLowError(found.total, found.balance, found.planned))


def _open(project: Project, worker_id: str) -> bool:
    return project.compensations.filter(worker_id=worker_id, state__in=[State.PLANNED, State.OFFERED]).exists()


def _already(worker_id: str) -> str:
    return f"{worker_id} has an open compensation of this project. Wait until it is over, or withdraw it."


@transaction.atomic
def order(
    project: Project, worker_id: str, amount: Decimal, reason: str, total: Decimal, confirmation: str, user: User | None
) -> Compensation:
    """Write the compensation down and reserve its price. `finish` offers it.

    The caller holds the lock of the project, and no compensation has this confirmation yet.
    Raises Refused (already_offered, price_changed) and BudgetExceededError.
    """
    fee = fees.bonus_fee(amount)
    if amount + fee != total:
        raise Refused("price_changed", f"It is now ${amount + fee:,.2f}. Please confirm again.")
    if _open(project, worker_id):
        raise Refused("already_offered", _already(worker_id))
    row = Compensation.objects.create(
        project=project,
        worker_id=worker_id,
        amount=amount,
        fee=fee,
        reason=reason,
        confirmation=confirmation,
        created_by=user,
    )
    project.account.post([reserve_payment(row)])
    return row


def withdraw(row: Compensation, user: User | None) -> None:
    """Take back an offer that nobody has taken up; a worker who has it open may still submit it and is paid.

    `finish` closes the HIT, and releases the money when it is certain that nobody submitted.
    Raises Refused (not_withdrawable).
    """
    said = f"Withdrawn by {user.get_username()}." if user else "Withdrawn."
    if _end(row, _standing(row).filter(state=State.PLANNED, attempted_at=None), State.EXPIRED, said):
        return
    now = timezone.now()
    if _standing(row).filter(expires_at__lte=now).exists():
        return
    if not _standing(row).update(expires_at=now, looked_at=None, error=said):
        raise Refused("not_withdrawable", "It is over already: look at what became of it.")


# Offer and look


def finish(project: Project) -> int:
    """Do for every open compensation of the project what is due; returns how many came to an end or were offered.

    A silent marketplace leaves rows as they are, with a sentence; calling it again goes on. Another process at the
    same project makes it return 0.
    """
    with lease(f"compensations:{project.pk}", seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        market = gateway()
        done = 0
        for row in _due(project):
            try:
                done += _advance(row, market, held)
            except UnreachableError as error:
                waiting = _standing(row).filter(state=State.PLANNED, expires_at=None)
                waiting.update(error=why_it_waits(error))
                break
            held.renew()
        return done


def _due(project: Project | None = None) -> list[Compensation]:
    """Open rows whose next step may be done now. They are few: each is one worker's."""
    rows = Compensation.objects.filter(state__in=[State.PLANNED, State.OFFERED]).select_related("project__account")
    if project is not None:
        rows = rows.filter(project=project)
    now = timezone.now()
    return [row for row in rows.order_by("id") if _next_step(row) <= now]


def _next_step(row: Compensation) -> datetime:
    """When it is to be looked at again: ever more rarely while it is open, and anew from its end on."""
    if row.looked_at is None or row.expires_at is None:
        return row.created_at if row.looked_at is None else row.looked_at + WAIT_FOR_MONEY
    since = row.created_at if row.looked_at < row.expires_at else row.expires_at
    following = row.looked_at + min(max((row.looked_at - since) / 4, FIRST_LOOK), RAREST_LOOK)
    ends = [moment for moment in (row.expires_at, certain_at(row.expires_at)) if moment > row.looked_at]
    return min([following, *ends])


def is_over(row: Compensation) -> bool:
    """Whether its time has run out or a lead has withdrawn it."""
    return row.expires_at is not None and row.expires_at <= timezone.now()


def certain_at(expires_at: datetime) -> datetime:
    """From then on nobody can submit any more, and reads show whatever was submitted."""
    return expires_at + timedelta(seconds=ASSIGNMENT_SECONDS + settings.MTURK_SETTLE_SECONDS)


def _advance(row: Compensation, market: Gateway, held: Held) -> int:
    try:
        return _look(row, market) if row.state == State.OFFERED else _offer(row, market, held)
    except NotYetError:
        _write(row, looked_at=timezone.now())
    except InsufficientFundsError as error:
        # Nothing was made: the next try begins with a fresh token life.
        _write(row, attempted_at=None, looked_at=timezone.now(), error=why_it_waits(error))
    except RefusedError as error:
        if not row.hit_id:
            return _end(row, _standing(row), State.REFUSED, str(error))
        # The HIT is there, and holds money: it has to be closed.
        _write(row, state=State.OFFERED, expires_at=timezone.now(), looked_at=timezone.now(), error=str(error))
    return 0


def _offer(row: Compensation, market: Gateway, held: Held) -> int:
    """Every step up to the offer; those that are done are found done."""
    qualification = _qualification_type_id(row.project, market)
    if not row.hit_id:
        # Without a notice: it would arrive before there is anything to see. An unknown worker is refused here.
        market.grant(qualification, row.worker_id, row.pk)
        if not row.hit_type_id:
            _write(row, hit_type_id=market.create_hit_type(_spec(row, qualification)))
        held.renew()
        made = _make(row, market)
        if made is None:
            return 0
        _write(row, hit_id=made.hit_id)
        # Not over the end that a withdrawal has set meanwhile.
        _standing(row).filter(expires_at=None).update(expires_at=made.expires_at)
        row.refresh_from_db(fields=["expires_at"])
    assert row.expires_at is not None
    if row.expires_at > timezone.now():
        market.grant(qualification, row.worker_id, row.pk, notify=True)
        _standing(row).filter(expires_at=row.expires_at).update(error="")
    return _standing(row).filter(state=State.PLANNED).update(state=State.OFFERED, looked_at=timezone.now())


def _qualification_type_id(project: Project, market: Gateway) -> str:
    existing = project.qualifications.filter(key=QUALIFICATION).first()
    if existing:
        return existing.qualification_type_id
    made = market.ensure_qualification_type(
        f"Compensation: {project.name} ({project.namespace[:6]})",
        f"“{project.name}” pays you for work that you could not submit. Look for the HIT “{_title(project)}”: it is "
        f"shown to you alone, asks one question, and is paid when you answer it. Questions: {project.contact_email}.",
    )
    row, _ = Qualification.objects.get_or_create(
        project=project, key=QUALIFICATION, defaults={"qualification_type_id": made}
    )
    return row.qualification_type_id


def _title(project: Project) -> str:
    return f"Payment for your work on {project.name}"[:128]


def _spec(row: Compensation, qualification_type_id: str) -> HitTypeSpec:
    return HitTypeSpec(
        title=_title(row.project),
        description="Compensation for work that you could not submit. One question; it is paid when you answer it.",
        keywords="compensation",
        reward=row.amount,
        assignment_seconds=ASSIGNMENT_SECONDS,
        auto_approval_seconds=0,
        requirements=(
            {
                "QualificationTypeId": qualification_type_id,
                "Comparator": "EqualTo",
                "IntegerValues": [row.pk],
                "ActionsGuarded": "DiscoverPreviewAndAccept",
            },
        ),
    )


def _make(row: Compensation, market: Gateway) -> RemoteHit | None:
    """The one HIT of this row, made now or before. None when the offer was withdrawn meanwhile."""
    if row.outlives_its_token:
        for found in market.all_hits():
            if found.annotation == row.token:
                return found
    mark_sent(_standing(row))
    if not _standing(row).exists():
        return None
    try:
        return market.create_hit(
            row.hit_type_id,
            question=_question(row),
            max_assignments=1,
            lifetime_seconds=int(LIFETIME.total_seconds()),
            token=row.token,
        )
    except AlreadyExistsError as error:
        if error.hit_id is None:
            raise
        found = market.hit(error.hit_id)
        if found.annotation != row.token:
            raise RefusedError("TokenCollision", f"The token {row.token} belongs to another HIT.") from error
        return found


def _question(row: Compensation) -> str:
    paragraphs = [
        row.reason,
        f"You are paid ${row.amount:,.2f} as soon as you answer below. Nothing else has to be done.",
        f"If anything is wrong, write to {row.project.contact_email}.",
    ]
    return one_choice_form(_title(row.project), paragraphs, "Does this settle it?", "Yes, this settles it")


def _look(row: Compensation, market: Gateway) -> int:
    """Adopt what became of the offer. One that is over is closed there too: whoever has it open may still submit."""
    assert row.expires_at is not None
    now = timezone.now()
    if is_over(row):
        # A HIT that is deleted is closed as well.
        with suppress(AlreadyDoneError, GoneError, WrongStateError):
            market.set_expiration(row.hit_id or "", row.expires_at)
    taken = next(iter(if_there(lambda: market.assignments(row.hit_id or ""), [])), None)
    if taken is not None and taken.status == "Approved":
        return _pay(row, taken)
    if taken is None and now >= certain_at(row.expires_at) and _delete_hit(row, market):
        return _end(row, _standing(row), State.EXPIRED, row.error)
    _write(row, looked_at=now)
    return 0


def _delete_hit(row: Compensation, market: Gateway) -> bool:
    """Delete the HIT that nobody answered: until then the marketplace holds its money. False: not possible yet."""
    try:
        market.delete_hit(row.hit_id or "")
    except GoneError:
        return True
    except WrongStateError as error:
        return "Disposed" in error.message
    return True


def _pay(row: Compensation, taken: RemoteAssignment) -> int:
    with transaction.atomic():
        columns = {"state": State.PAID, "paid_at": taken.submitted_at, "assignment_id": taken.assignment_id}
        if not _standing(row).update(**columns, looked_at=timezone.now(), error=""):
            return 0
        row.project.account.post([pay_payment(row)])
    return 1


def _end(row: Compensation, standing: QuerySet[Compensation], state: str, said: str) -> int:
    """It will not be paid: its money is released, if it still is in one of these states."""
    with transaction.atomic():
        if not standing.update(state=state, error=said, looked_at=timezone.now()):
            return 0
        row.project.account.post([release_payment(row, "refused" if state == State.REFUSED else "not taken up")])
    return 1


def _standing(row: Compensation) -> QuerySet[Compensation]:
    """The row, as long as its end is not written down: another process may have done so."""
    return Compensation.objects.filter(pk=row.pk, state__in=[State.PLANNED, State.OFFERED])


def _write(row: Compensation, **columns: Any) -> None:
    """Only these columns: a withdrawal may come at any time."""
    _standing(row).update(**columns)
    for name, value in columns.items():
        setattr(row, name, value)


def unfinished() -> list[int]:
    """Projects with compensations whose next step is due."""
    return sorted({row.project_id for row in _due()})


# Words for the worker


def task_address(row: Compensation) -> str:
    """Where the worker finds the HIT; empty before it is offered."""
    if not row.hit_type_id or not row.hit_id:
        return ""
    return f"{settings.MTURK_SUBMIT_ORIGINS[0]}/mturk/preview?groupId={row.hit_type_id}"


def letter(row: Compensation) -> str:
    """A text that the lead can send by mail."""
    until = f"{row.expires_at:%-d %B %Y, %H:%M} UTC" if row.expires_at else "two weeks from now"
    return (
        f"{row.reason}\n\nWe have put a HIT there for you alone that pays ${row.amount:,.2f}. "
        f"It asks one question and is paid when you answer it:\n{task_address(row)}\n\n"
        f"Sign in as {row.worker_id}. It is open until {until}.\n\n{row.project.name}"
    )
