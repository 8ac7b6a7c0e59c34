"""The value given most often, and where there is none."""

from collections import Counter
from statistics import multimode

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hits.stats.majority import majority_of


@pytest.mark.parametrize(
    ("values", "most"),
    [("", None), ("a", "a"), ("ab", None), ("aab", "a"), ("abb", "b"), ("aabb", None), ("aabbc", None), ("aabbb", "b")],
)
def test_it_is_given_more_often_than_every_other(values, most):
    assert majority_of(values) == most
    assert majority_of(Counter(values)) == most


@given(some.lists(some.integers(0, 4)))
def test_it_is_the_only_mode(values):
    modes = multimode(values)
    assert majority_of(values) == (modes[0] if len(modes) == 1 else None)
