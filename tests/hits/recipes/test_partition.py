from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.recipes.partition import nearest_subset

small = st.lists(st.integers(1, 9), max_size=9)
targets = st.fractions(0, 60, max_denominator=7)


def total(sizes, chosen):
    return sum(size for size, is_in in zip(sizes, chosen, strict=True) if is_in)


@given(small, targets)
def test_no_other_choice_comes_nearer_to_the_target(sizes, target):
    best = min(abs(total(sizes, choice) - target) for choice in product([False, True], repeat=len(sizes)))
    assert abs(total(sizes, nearest_subset(sizes, target)) - target) == best


@given(st.lists(st.integers(1, 5), min_size=1, max_size=300))
def test_halves_of_many_groups_are_equal_as_far_as_the_sizes_allow(sizes):
    taken = total(sizes, nearest_subset(sizes, Fraction(sum(sizes), 2)))
    other = sum(sizes) - taken
    if 1 in sizes and len(sizes) > 20:
        assert abs(taken - other) <= max(1, max(sizes) - 1)
    assert taken <= other


def test_the_choice_takes_about_the_same_part_of_neighbours():
    chosen = nearest_subset([1] * 100, Fraction(50))
    assert 24 <= sum(chosen[:50]) <= 26


def test_it_is_quick_for_a_hundred_thousand_items():
    sizes = [1 + i % 3 for i in range(50_000)]
    assert total(sizes, nearest_subset(sizes, Fraction(sum(sizes), 2))) == sum(sizes) // 2


def test_no_groups_give_no_choice_and_empty_groups_are_refused():
    assert nearest_subset([], Fraction(3)) == []
    with pytest.raises(ValueError, match="at least one member"):
        nearest_subset([1, 0], Fraction(1))
