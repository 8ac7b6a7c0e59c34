from decimal import Decimal

import pytest

from marketplace.rules.fees import fee_per_assignment
from marketplace.rules.qualifications import MASTERS

MASTERS_ASKED = [{"QualificationTypeId": MASTERS, "Comparator": "Exists"}]


@pytest.mark.parametrize(
    ("reward", "assignments", "requirements", "fee"),
    [
        ("0.05", 3, [], "0.01"),
        ("1.00", 9, [], "0.20"),
        ("1.00", 10, [], "0.40"),
        ("1.00", 9, MASTERS_ASKED, "0.25"),
        ("0.00", 1, [], "0.01"),
        ("0.03", 1, [], "0.01"),
        ("0.12", 1, [], "0.02"),
        ("0.13", 1, [], "0.03"),
        ("0.10", 1, MASTERS_ASKED, "0.03"),
    ],
)
def test_the_fee_rounds_half_up_and_is_at_least_a_cent(
    reward: str, assignments: int, requirements: list[dict[str, str]], fee: str
) -> None:
    assert fee_per_assignment(Decimal(reward), assignments, requirements) == Decimal(fee)
