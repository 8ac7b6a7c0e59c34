"""Entries of the ledger once something is published: an answer paid, a place released, a bonus, a compensation."""

from __future__ import annotations

from typing import Any

from hits.answers.models import Assignment
from hits.payments.models import Bonus, Compensation, LedgerEntry
from hits.publishing.models import Hit


def settle(assignment: Assignment) -> LedgerEntry:
    """An approved answer: what was reserved for it becomes paid, reward and fee."""
    hit = assignment.hit
    return LedgerEntry(
        stage_id=hit.stage_id,
        kind=LedgerEntry.Kind.SETTLE,
        reserved=-hit.unit_cost,
        paid=hit.unit_cost,
        fee=hit.unit_cost - hit.reward,
        hit=hit,
        assignment=assignment,
    )


def release(hit: Hit, assignments: int, note: str) -> LedgerEntry:
    """Answers that were reserved for and will never be paid."""
    return LedgerEntry(
        stage_id=hit.stage_id,
        kind=LedgerEntry.Kind.RELEASE,
        reserved=-hit.unit_cost * assignments,
        hit=hit,
        note=note,
    )


def reserve_payment(row: Bonus | Compensation) -> LedgerEntry:
    """Money set apart for a bonus or a compensation that is ordered."""
    return _of_payment(row, LedgerEntry.Kind.RESERVE, reserved=row.amount + row.fee)


def pay_payment(row: Bonus | Compensation) -> LedgerEntry:
    """What was reserved for it becomes paid, amount and fee."""
    kind = LedgerEntry.Kind.BONUS if isinstance(row, Bonus) else LedgerEntry.Kind.COMPENSATION
    cost = row.amount + row.fee
    return _of_payment(row, kind, reserved=-cost, paid=cost, fee=row.fee)


def release_payment(row: Bonus | Compensation, note: str) -> LedgerEntry:
    """It will never be paid."""
    return _of_payment(row, LedgerEntry.Kind.RELEASE, reserved=-row.amount - row.fee, note=note)


def _of_payment(row: Bonus | Compensation, kind: str, **columns: Any) -> LedgerEntry:
    """A bonus counts for the stage of its answer (`row.assignment` is read); a compensation belongs to no stage."""
    if isinstance(row, Bonus):
        return LedgerEntry(kind=kind, bonus=row, stage_id=row.assignment.stage_id, **columns)
    return LedgerEntry(kind=kind, compensation=row, **columns)
