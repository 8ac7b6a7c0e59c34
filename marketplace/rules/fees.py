"""What the marketplace charges on top of a reward. Rounds half up to a cent, at least one cent."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from marketplace.rules.qualifications import MASTERS_IDS

CENT = Decimal("0.01")
BASE_RATE = Decimal("0.20")
MANY_ASSIGNMENTS_RATE = Decimal("0.20")
MASTERS_RATE = Decimal("0.05")
MANY_ASSIGNMENTS = 10


def fee_per_assignment(reward: Decimal, max_assignments: int, requirements: Sequence[dict[str, Any]]) -> Decimal:
    """The fee for one assignment of a HIT that was created with `max_assignments`."""
    rate = BASE_RATE
    if max_assignments >= MANY_ASSIGNMENTS:
        rate += MANY_ASSIGNMENTS_RATE
    if any(requirement["QualificationTypeId"] in MASTERS_IDS for requirement in requirements):
        rate += MASTERS_RATE
    return _fee(reward, rate)


def bonus_fee(amount: Decimal) -> Decimal:
    """The fee for one bonus."""
    return _fee(amount, BASE_RATE)


def _fee(amount: Decimal, rate: Decimal) -> Decimal:
    return max(CENT, (amount * rate).quantize(CENT, ROUND_HALF_UP))
