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


def _fee_in_cents(reward: int, assignments: int, masters: bool) -> int:
    """The price list once more, in whole numbers: hundredths of a cent, half a cent counts up, one cent at least."""
    percent = 20 + (20 if assignments > 9 else 0) + (5 if masters else 0)
    cents, rest = divmod(reward * percent, 100)
    return max(1, cents + (1 if rest >= 50 else 0))


@pytest.mark.parametrize("masters", [False, True])
@pytest.mark.parametrize("assignments", [1, 9, 10, 12])
def test_every_reward_up_to_fifty_dollars_has_the_fee_that_whole_numbers_give(assignments, masters):
    for cents in range(5001):
        charged = fee(Decimal(cents).scaleb(-2), assignments, masters=masters)
        assert charged == Decimal(_fee_in_cents(cents, assignments, masters)).scaleb(-2), cents


cent_rewards = st.integers(0, 5000)


@given(cent_rewards, st.integers(1, 12), st.booleans(), st.integers(1, 200_000))
def test_the_price_of_a_batch_is_items_times_answers_times_reward_and_fee(cents, answers, masters, items):
    unit = unit_cost(Decimal(cents).scaleb(-2), answers, masters=masters)
    total = items * answers * (cents + _fee_in_cents(cents, answers, masters))
    assert unit * items * answers == Decimal(total).scaleb(-2)


@given(st.lists(st.tuples(cent_rewards, st.integers(1, 12), st.booleans()), max_size=200))
def test_a_sum_of_prices_never_drifts_in_whatever_order_it_is_added(answers):
    prices = [unit_cost(Decimal(cents).scaleb(-2), many, masters=masters) for cents, many, masters in answers]
    exact = Decimal(sum(cents + _fee_in_cents(cents, many, masters) for cents, many, masters in answers)).scaleb(-2)
    assert sum(prices, Decimal(0)) == exact == sum(sorted(prices, reverse=True), Decimal(0))


@given(cent_rewards, st.integers(1, 12), st.integers(1, 12), st.booleans())
def test_a_higher_reward_or_more_answers_never_cost_less(cents, fewer, more, masters):
    reward, higher = Decimal(cents).scaleb(-2), Decimal(cents + 1).scaleb(-2)
    fewer, more = sorted((fewer, more))
    assert fee(reward, fewer, masters=masters) <= fee(higher, fewer, masters=masters)
    assert fee(reward, fewer, masters=masters) <= fee(reward, more, masters=masters)
