"""What an assignment costs with its fee, and which HITs may grow without another fee."""

from __future__ import annotations

from decimal import Decimal

from common.fees import CENT, MANY_ASSIGNMENTS, bonus_fee, fee

__all__ = ["CENT", "MANY_ASSIGNMENTS", "bonus_fee", "can_grow", "fee", "unit_cost"]


def unit_cost(reward: Decimal, max_assignments: int, *, masters: bool = False) -> Decimal:
    """Reward and fee of one assignment, in dollars."""
    return reward + fee(reward, max_assignments, masters=masters)


def can_grow(created_with: int, now_at_most: int, more: int) -> bool:
    """A HIT made with fewer than ten assignments may never reach ten."""
    return created_with >= MANY_ASSIGNMENTS or now_at_most + more < MANY_ASSIGNMENTS
