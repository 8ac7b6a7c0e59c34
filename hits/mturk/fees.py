"""What the marketplace adds to a reward. Source: Mechanical Turk's pricing page, 2026-10.

20 % of the reward, 20 % more when the HIT has ten assignments or more, 5 % more for Masters;
at least one cent an assignment; rounded half up to a cent.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")
MANY_ASSIGNMENTS = 10


def fee(reward: Decimal, max_assignments: int, *, masters: bool = False) -> Decimal:
    """The fee of one assignment, in dollars."""
    share = Decimal("0.20")
    if max_assignments >= MANY_ASSIGNMENTS:
        share += Decimal("0.20")
    if masters:
        share += Decimal("0.05")
    return max(CENT, (reward * share).quantize(CENT, ROUND_HALF_UP))


def unit_cost(reward: Decimal, max_assignments: int, *, masters: bool = False) -> Decimal:
    """Reward and fee of one assignment, in dollars."""
    return reward + fee(reward, max_assignments, masters=masters)


def can_grow(created_with: int, now_at_most: int, more: int) -> bool:
    """A HIT made with fewer than ten assignments may never reach ten."""
    return created_with >= MANY_ASSIGNMENTS or now_at_most + more < MANY_ASSIGNMENTS


def bonus_fee(amount: Decimal) -> Decimal:
    """The fee of one bonus, in dollars: 20 %, at least one cent, rounded half up."""
    return max(CENT, (amount * Decimal("0.20")).quantize(CENT, ROUND_HALF_UP))
