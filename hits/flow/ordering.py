"""Ordering bonuses: check what is asked for, price it, then write the rows and reserve their money, all or nothing.

The room `bonuses` makes the calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from hits.flow.common import balance, refuse_beyond_balance
from hits.formats.faults import Faults
from hits.formats.payments import AskedBonus, read_amount, read_bonus_file, read_reason
from hits.models import Assignment, Bonus, BonusOrder, Project
from hits.models.commitments import BalanceTooLowError, planned_cost
from hits.models.ledger import reserve_payment
from hits.models.needs import chunks
from hits.mturk import fees

LARGEST_SHOWN = 10


class OrderChangedError(Exception):
    """The price is not the one that was confirmed. Look at the new price and confirm again."""


@dataclass(frozen=True)
class NewBonus:
    """A line that can be paid, with the answer that it belongs to. Money in dollars."""

    assignment: Assignment
    amount: Decimal
    reason: str

    @property
    def fee(self) -> Decimal:
        return fees.bonus_fee(self.amount)

    @property
    def alike(self) -> tuple[int, Decimal, str]:
        """Two bonuses with the same of these look the same to the worker, and at the marketplace."""
        return self.assignment.pk, self.amount, self.reason


@dataclass(frozen=True)
class Share:
    """What one worker gets by an order, without fees."""

    worker_id: str
    count: int
    amount: Decimal


@dataclass(frozen=True)
class BonusQuote:
    """What an order would do. Money in dollars; `problems` stop it, `warnings` want a second look.

    `planned` is what the balance has to pay for besides: calls of all projects that are on their way.
    """

    count: int
    workers: int
    amount: Decimal
    fee: Decimal
    total: Decimal
    highest: Decimal
    shares: list[Share]
    budget_left: Decimal
    balance: Decimal | None
    planned: Decimal
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read_file(project: Project, content: bytes) -> list[NewBonus]:
    """The bonuses of a CSV file. Raises FormatErrors, which names every fault with its line."""
    faults = Faults()
    return _checked(project, read_bonus_file(content, faults), faults)


def check(project: Project, asked: Sequence[AskedBonus]) -> list[NewBonus]:
    """The bonuses that were asked for by hand or by a program. Raises FormatErrors with every fault."""
    return _checked(project, asked, Faults())


def _checked(project: Project, asked: Sequence[AskedBonus], faults: Faults) -> list[NewBonus]:
    answers = _answers(project, {one.assignment_id for one in asked})
    found: list[NewBonus] = []
    seen: dict[tuple[int, Decimal, str], int | None] = {}
    for one in asked:
        before = faults.count
        amount, reason = _amount(one, faults), _reason(one, faults)
        answer = _answer(one, answers.get(one.assignment_id, []), faults)
        if faults.count > before or answer is None:
            continue
        new = NewBonus(answer, amount, reason)
        if new.alike in seen:
            said = f"line {seen[new.alike]}" if seen[new.alike] else "another line"
            faults.add(one.line, "", f"This is the same answer, amount and reason as {said}: it would be paid twice.")
            continue
        seen[new.alike] = one.line
        found.append(new)
    faults.listed.sort(key=lambda fault: fault.line or 0)
    faults.refuse()
    return found


def _answers(project: Project, assignment_ids: Iterable[str]) -> dict[str, list[Assignment]]:
    """By their id at the marketplace, which two workers can have had one after the other."""
    found: dict[str, list[Assignment]] = {}
    rows = Assignment.objects.filter(stage__project=project).select_related("worker")
    for chunk in chunks(sorted(assignment_ids), 500):
        for row in rows.filter(assignment_id__in=chunk).defer("answer"):
            found.setdefault(row.assignment_id, []).append(row)
    return found


def _amount(one: AskedBonus, faults: Faults) -> Decimal:
    try:
        return read_amount(one.amount)
    except ValueError as error:
        faults.add(one.line, "amount", str(error))
        return Decimal(0)


def _reason(one: AskedBonus, faults: Faults) -> str:
    try:
        return read_reason(one.reason)
    except ValueError as error:
        faults.add(one.line, "reason", str(error))
        return ""


def _answer(one: AskedBonus, rows: Sequence[Assignment], faults: Faults) -> Assignment | None:
    mine = [row for row in rows if one.worker_id in ("", row.worker.worker_id)]
    if len(mine) == 1:
        return mine[0]
    if not rows:
        faults.add(one.line, "assignment_id", f"No answer of this project has the id “{one.assignment_id[:64]}”.")
    elif not mine:
        whose = " and ".join(sorted(row.worker.worker_id for row in rows))
        faults.add(one.line, "worker_id", f"This answer is by {whose}, not by {one.worker_id[:64]}.")
    else:
        faults.add(one.line, "worker_id", "Two workers had this assignment id: say whom you mean.")
    return None


# Price


def quote(project: Project, new: Sequence[NewBonus], digest: str = "") -> BonusQuote:
    """The price of these bonuses; `digest` is the SHA-256 of the file that they come from."""
    amount = sum((one.amount for one in new), Decimal(0))
    fee = sum((one.fee for one in new), Decimal(0))
    shares = _shares(new)
    project.account.refresh_from_db()
    found = BonusQuote(
        count=len(new),
        workers=len(shares),
        amount=amount,
        fee=fee,
        total=amount + fee,
        highest=max((one.amount for one in new), default=Decimal(0)),
        shares=shares[:LARGEST_SHOWN],
        budget_left=project.account.left,
        balance=balance(),
        planned=planned_cost(),
    )
    found.problems.extend(_problems(found))
    found.warnings.extend(_warnings(project, new, digest))
    return found


def _shares(new: Iterable[NewBonus]) -> list[Share]:
    counts: Counter[str] = Counter()
    sums: dict[str, Decimal] = {}
    for one in new:
        worker_id = one.assignment.worker.worker_id
        counts[worker_id] += 1
        sums[worker_id] = sums.get(worker_id, Decimal(0)) + one.amount
    rows = [Share(worker_id, counts[worker_id], amount) for worker_id, amount in sums.items()]
    return sorted(rows, key=lambda row: (-row.amount, row.worker_id))


def _problems(found: BonusQuote) -> Iterable[str]:
    if found.total > found.budget_left:
        yield (
            f"This needs ${found.total:,.2f} and ${found.budget_left:,.2f} of the budget is left. "
            "Raise the project's budget or pay less."
        )
    if found.balance is not None and found.total > found.balance - found.planned:
        yield str(BalanceTooLowError(found.total, found.balance, found.planned))


def _warnings(project: Project, new: Sequence[NewBonus], digest: str) -> Iterable[str]:
    orders = project.bonus_orders.filter(digest=digest) if digest else project.bonus_orders.none()
    for order in orders[:3]:
        when = f"{order.created_at:%-d %b %Y, %H:%M} UTC"
        yield f"This very file was ordered before: {order.filename}, {order.total:,} bonuses, {when}."
    before = _ordered_before(project, new)
    if before:
        same = "1 line has" if before == 1 else f"{before:,} lines have"
        yield f"{same} the same answer, amount and reason as a bonus that was ordered before. It would be paid again."


def _ordered_before(project: Project, new: Sequence[NewBonus]) -> int:
    standing = project.bonuses.exclude(state=Bonus.State.REFUSED)
    before: set[tuple[int, Decimal, str]] = set()
    for chunk in chunks(sorted({one.assignment.pk for one in new}), 500):
        for row in standing.filter(assignment__in=chunk):
            before.add((row.assignment_id, row.amount, row.reason))
    return sum(one.alike in before for one in new)


# Order


def order(
    project: Project,
    new: Sequence[NewBonus],
    total: Decimal,
    confirmation: str,
    user: User | None,
    filename: str = "",
    digest: str = "",
) -> BonusOrder:
    """Write these bonuses down and reserve their price, all or nothing. The room `bonuses` pays them.

    `confirmation` belongs to one opened page: confirming twice gives the same order.
    Raises OrderChangedError when the price is not `total`, BudgetExceededError and BalanceTooLowError.
    """
    earlier = project.bonus_orders.filter(confirmation=confirmation).first()
    if earlier:
        return earlier
    cost = sum((one.amount + one.fee for one in new), Decimal(0))
    if not new or cost != total:
        what = "1 bonus" if len(new) == 1 else f"{len(new):,} bonuses"
        raise OrderChangedError(f"It is now {what} for ${cost:,.2f}. Please confirm again.")
    refuse_beyond_balance(cost)
    try:
        with transaction.atomic():
            made = BonusOrder.objects.create(
                project=project,
                confirmation=confirmation,
                filename=filename[-200:],
                digest=digest,
                total=len(new),
                cost=cost,
                created_by=user,
            )
            _write(made, new)
            return made
    except IntegrityError:
        winner = project.bonus_orders.filter(confirmation=confirmation).first()
        if winner is None:
            raise
        return winner


def _write(made: BonusOrder, new: Sequence[NewBonus]) -> None:
    rows = [
        Bonus(
            project=made.project,
            order=made,
            assignment=one.assignment,
            worker_id=one.assignment.worker_id,
            amount=one.amount,
            fee=one.fee,
            reason=one.reason,
        )
        for one in new
    ]
    rows = Bonus.objects.bulk_create(rows, batch_size=2000)
    made.project.account.post(reserve_payment(row) for row in rows)
