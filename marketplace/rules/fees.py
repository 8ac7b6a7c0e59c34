"""What the marketplace charges for an assignment of a HIT, by the HIT's requirements; `common.fees` has the shares."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from common.fees import MANY_ASSIGNMENTS, bonus_fee, fee
from marketplace.rules.qualifications import MASTERS_IDS

__all__ = ["MANY_ASSIGNMENTS", "bonus_fee", "fee_per_assignment"]


def fee_per_assignment(reward: Decimal, max_assignments: int, requirements: Sequence[dict[str, Any]]) -> Decimal:
    """The fee for one assignment of a HIT that was created with `max_assignments`, in dollars."""
    masters = any(requirement["QualificationTypeId"] in MASTERS_IDS for requirement in requirements)
    return fee(reward, max_assignments, masters=masters)
