"""What the marketplace adds to a reward or a bonus. Source: Mechanical Turk's pricing page, 2026-10.

20 % of the amount, 20 % more for a HIT that was created with ten assignments or more, 5 % more for Masters; at least
one cent, rounded half up to a cent. The service charges it, and the requester's side reserves it before it asks.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")
BASE_SHARE = Decimal("0.20")
MANY_ASSIGNMENTS_SHARE = Decimal("0.20")
MASTERS_SHARE = Decimal("0.05")
MANY_ASSIGNMENTS = 10


def fee(reward: Decimal, max_assignments: int, *, masters: bool = False) -> Decimal:
    """The fee of one assignment of a HIT that was created with `max_assignments`, in dollars."""
    share = BASE_SHARE
    if max_assignments >= MANY_ASSIGNMENTS:
        share += MANY_ASSIGNMENTS_SHARE
    if masters:
        share += MASTERS_SHARE
    return _fee(reward, share)


def bonus_fee(amount: Decimal) -> Decimal:
    """The fee of one bonus, in dollars."""
    return _fee(amount, BASE_SHARE)


def _fee(amount: Decimal, share: Decimal) -> Decimal:
    return max(CENT, (amount * share).quantize(CENT, ROUND_HALF_UP))
