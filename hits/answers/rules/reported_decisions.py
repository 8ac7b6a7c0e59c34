"""What follows from a decision about an answer that the marketplace reports: money, and how it is told."""

from __future__ import annotations

from django.utils import timezone

from hits.answers.models import Assignment
from hits.payments.models import LedgerEntry
from hits.payments.rules.ledger import release, settle

# The worker has disputed it, or an operator saw a mistake: more is not told.
TAKEN_BACK = "The rejection was taken back at the marketplace, not from here."


def how_it_came(row: Assignment, state: str) -> str:
    """Why the answer, as `row` still has it, is in that state at the marketplace although nobody here put it there.

    Empty where somebody here did: the decision arrived, and its reply did not.
    """
    if row.decision == state:
        return ""
    if state == Assignment.State.REJECTED:
        return "Rejected at the marketplace, not from here."
    if row.state == Assignment.State.REJECTED:
        return TAKEN_BACK
    due = row.auto_approval_at
    if due is None or due > timezone.now():
        return "Approved at the marketplace, not from here."
    moment = f"{due:%Y-%m-%d %H:%M} UTC"
    if row.decision == Assignment.State.REJECTED:
        return f"The marketplace approved it at {moment} before the rejection arrived."
    return f"The marketplace approved it by itself at {moment}: nobody had decided by then."


def money_for(row: Assignment) -> LedgerEntry | None:
    """What becomes of the money that was reserved for the answer; None while nobody has decided."""
    if row.state == Assignment.State.APPROVED:
        return settle(row)
    if row.state == Assignment.State.REJECTED:
        return release(row.hit, 1, "rejected")
    return None
