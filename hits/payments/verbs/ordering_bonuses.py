"""Ordering bonuses: check what is asked for, price it, then write the rows and reserve their money, all or nothing.

The module `bonuses` makes the calls.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from hits.core.jobs.leases import lease
from hits.formats.files.faults import Faults, FormatErrors
from hits.formats.inputs.payments import MOST_BYTES, AskedBonus, read_amount, read_bonus_file, read_reason
from hits.judging.rules.required_answers import chunks
from hits.models import Assignment, Blob, Bonus, BonusFile, BonusOrder, BudgetExceededError, Project
from hits.mturk import fees
from hits.payments.rules.commitments import BalanceTooLowError, planned_cost
from hits.payments.rules.ledger import reserve_payment
from hits.projects.rules.archived import refuse_archived
from hits.publishing.rules.marketplace_account import balance, refuse_beyond_balance
from hits.publishing.rules.restorations import why_calls_wait
from hits.refusals import Refusal, Refused

LARGEST_SHOWN = 10
MOST_ATTEMPTS = 3
LEASE_SECONDS = 60
FIRST = 5
TRIED = f"It was begun {MOST_ATTEMPTS} times and did not come to an end. Split the file, and send in the parts."


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
    rows = Assignment.objects.from_marketplace().filter(stage__project=project).select_related("worker")
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
    found.problems.extend(problems(found))
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


def problems(found: BonusQuote) -> Iterable[str]:
    """Sentences that stop an order."""
    if found.total > found.budget_left:
        yield (
            f"This needs ${found.total:,.2f} and ${found.budget_left:,.2f} of the budget is left. "
            "Raise the project's budget or pay less."
        )
    if why := why_calls_wait():
        yield why
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


@transaction.atomic
def order(
    project: Project,
    new: Sequence[NewBonus],
    total: Decimal,
    confirmation: str,
    user: User | None,
    filename: str = "",
    digest: str = "",
) -> BonusOrder:
    """Write these bonuses down and reserve their price, all or nothing. The module `bonuses` pays them.

    The caller holds the lock of the project, and no order has this confirmation yet.
    Raises Refused (order_changed) when the price is not `total`, and BudgetExceededError.
    """
    cost = sum((one.amount + one.fee for one in new), Decimal(0))
    if not new or cost != total:
        what = "1 bonus" if len(new) == 1 else f"{len(new):,} bonuses"
        raise Refused("order_changed", f"It is now {what} for ${cost:,.2f}. Please confirm again.")
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


def made_by(project: Project, confirmation: str) -> BonusOrder | None:
    return project.bonus_orders.filter(confirmation=confirmation).first()


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


# Files: checked, priced and ordered in the background


class TooLargeError(Refusal):
    """A file is larger than any that is taken."""

    error_code = "bonus_file_too_large"
    http_status = 413


def keep_file(project: Project, name: str, content: bytes, user: User | None) -> BonusFile:
    """Keep a file to be checked by `work_file`. Raises TooLargeError."""
    if len(content) > MOST_BYTES:
        most = f"at most {MOST_BYTES / 1e6:,.1f} MB are taken"
        raise TooLargeError(f"The file has {len(content) / 1e6:,.1f} MB; {most}. Split it.")
    return BonusFile.objects.create(project=project, name=name[-200:], blob=Blob.store(content), created_by=user)


def confirm_file(row: BonusFile, total: Decimal, confirmation: str, user: User | None) -> bool:
    """Have a file ordered that was checked. False when it is in no state for that, as after a double click."""
    ready = BonusFile.objects.filter(pk=row.pk, state=BonusFile.State.READY)
    values = {"total": total, "confirmation": confirmation, "confirmed_by": user, "attempts": 0, "error": ""}
    return bool(ready.update(state=BonusFile.State.ORDERING, **values))


def work_file(pk: int) -> BonusFile:
    """Check a file, or order one that was confirmed. Running it twice, or again after a crash, orders once."""
    row = BonusFile.objects.select_related("project__account", "blob", "confirmed_by").get(pk=pk)
    with lease(f"bonus-file:{pk}", seconds=LEASE_SECONDS) as held:
        if held is not None and _begin_file(row):
            _work_file(row)
    row.refresh_from_db()
    return row


def fail_file(pk: int, why: str) -> None:
    """`why` is a sentence for the lead."""
    running = BonusFile.objects.filter(pk=pk, state__in=BonusFile.RUNNING)
    running.update(state=BonusFile.State.FAILED, error=why)


def unfinished_files() -> list[int]:
    """Files that wait, or that a crash left."""
    return list(BonusFile.objects.filter(state__in=BonusFile.RUNNING).order_by("pk").values_list("pk", flat=True))


def quote_again(row: BonusFile) -> BonusQuote:
    """The price as it was when the file was checked, with the money that is there now."""
    stored = {name: _from_json(name, value) for name, value in (row.quote or {}).items() if name != "first"}
    row.project.account.refresh_from_db()
    found = BonusQuote(**stored, budget_left=row.project.account.left, balance=balance(), planned=planned_cost())
    found.problems.extend(problems(found))
    return found


def _begin_file(row: BonusFile) -> bool:
    # As it stands now: another process may have been at it.
    row.refresh_from_db(fields=["state", "attempts"])
    if not row.is_running:
        return False
    if row.attempts >= MOST_ATTEMPTS:
        fail_file(row.pk, TRIED)
        return False
    row.attempts += 1
    BonusFile.objects.filter(pk=row.pk).update(attempts=row.attempts)
    return True


def _work_file(row: BonusFile) -> None:
    content = row.blob.read()
    digest = hashlib.sha256(content).hexdigest()
    try:
        new = read_file(row.project, content)
    except FormatErrors as error:
        faults = [{"line": one.line, "place": one.place, "message": one.message} for one in error.errors]
        return _note_file(row, state=BonusFile.State.REFUSED, faults=faults, fault_count=error.count)
    if row.state == BonusFile.State.QUEUED:
        priced = _quote_as_json(quote(row.project, new, digest), new)
        return _note_file(row, state=BonusFile.State.READY, quote=priced)
    _order_file(row, new, digest)


def _order_file(row: BonusFile, new: Sequence[NewBonus], digest: str) -> None:
    earlier = made_by(row.project, row.confirmation)
    warnings = [] if earlier else list(_warnings(row.project, new, digest))
    if len(warnings) > len((row.quote or {}).get("warnings", ())):
        # The same file, sent in twice, was checked before its twin was ordered.
        priced = _quote_as_json(quote(row.project, new, digest), new)
        why = "Some of these bonuses were ordered since the file was checked: see what is paid again. Nothing was paid."
        return _note_file(row, state=BonusFile.State.READY, quote=priced, error=why)
    try:
        made = earlier or _order_once(row, new, digest)
    except (Refused, BalanceTooLowError) as error:
        # Once more at the price of now.
        priced = _quote_as_json(quote(row.project, new, digest), new)
        _note_file(row, state=BonusFile.State.READY, quote=priced, error=f"{error} Nothing was paid.")
    except BudgetExceededError as error:
        said = f"This needs ${error.needed:,.2f} and ${error.left:,.2f} of the budget is left. Nothing was paid."
        _note_file(row, state=BonusFile.State.READY, error=said)
    else:
        _note_file(row, state=BonusFile.State.ORDERED, order=made)


def _order_once(row: BonusFile, new: Sequence[NewBonus], digest: str) -> BonusOrder:
    refuse_beyond_balance(row.total or Decimal(0))
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=row.project_id)
        refuse_archived(project)
        by_another = made_by(project, row.confirmation)
        return by_another or order(project, new, row.total, row.confirmation, row.confirmed_by, row.name, digest)


def _note_file(row: BonusFile, **values: object) -> None:
    BonusFile.objects.filter(pk=row.pk, state=row.state).update(**values)


def _quote_as_json(quote: BonusQuote, new: Sequence[NewBonus]) -> dict[str, Any]:
    """As JSON: amounts are texts."""
    amounts = {name: f"{getattr(quote, name):.2f}" for name in ("amount", "fee", "total", "highest")}
    shares = [[one.worker_id, one.count, f"{one.amount:.2f}"] for one in quote.shares]
    first = [
        {
            "assignment": {
                "assignment_id": one.assignment.assignment_id,
                "worker": {"worker_id": one.assignment.worker.worker_id},
            },
            "amount": f"{one.amount:.2f}",
            "reason": one.reason,
        }
        for one in new[:FIRST]
    ]
    counts = {"count": quote.count, "workers": quote.workers, "warnings": list(quote.warnings)}
    return {**amounts, **counts, "shares": shares, "first": first}


def _from_json(name: str, value: Any) -> Any:
    if name == "shares":
        return [Share(worker, count, Decimal(amount)) for worker, count, amount in value]
    return Decimal(value) if name in ("amount", "fee", "total", "highest") else value


def first_lines(row: BonusFile) -> list[Mapping[str, Any]]:
    """The first bonuses of a file that is checked, as pages show them."""
    return [{**one, "amount": Decimal(one["amount"])} for one in (row.quote or {"first": []})["first"]]
