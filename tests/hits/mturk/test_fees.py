from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.mturk.fees import can_grow, fee, unit_cost

rewards = st.decimals(min_value="0", max_value="500", places=2)


@pytest.mark.parametrize(
    ("reward", "assignments", "masters", "expected"),
    [
        ("0.05", 3, False, "0.01"),
        ("1.00", 9, False, "0.20"),
        ("1.00", 10, False, "0.40"),
        ("1.00", 9, True, "0.25"),
        ("0.00", 1, False, "0.01"),
        ("0.04", 1, False, "0.01"),
        ("0.125", 1, False, "0.03"),
    ],
)
def test_the_fee_follows_the_published_price_list(reward, assignments, masters, expected):
    assert fee(Decimal(reward), assignments, masters=masters) == Decimal(expected)


@given(rewards, st.integers(1, 200))
def test_a_fee_is_whole_cents_at_least_one_and_within_half_a_cent_of_its_share(reward, assignments):
    share = Decimal("0.4") if assignments >= 10 else Decimal("0.2")
    charged = fee(reward, assignments)
    assert charged == charged.quantize(Decimal("0.01"))
    assert charged >= Decimal("0.01")
    assert charged == Decimal("0.01") or abs(charged - reward * share) <= Decimal("0.005")
    assert unit_cost(reward, assignments) == reward + charged


@pytest.mark.parametrize(("created", "now", "more", "allowed"), [(1, 1, 8, True), (1, 8, 2, False), (10, 10, 50, True)])
def test_a_hit_made_with_fewer_than_ten_assignments_never_reaches_ten(created, now, more, allowed):
    assert can_grow(created, now, more) is allowed
