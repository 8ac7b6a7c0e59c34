import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from hits.stats.intervals import wilson

shares = st.integers(0, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(shares, st.floats(0.5, 0.999))
def test_it_agrees_with_scipy(share, level):
    correct, n = share
    if n == 0:
        assert wilson(correct, n, level) == (0.0, 1.0)
        return
    oracle = binomtest(correct, n).proportion_ci(level, method="wilson")
    assert wilson(correct, n, level) == pytest.approx((oracle.low, oracle.high), abs=1e-12)


@given(shares)
def test_it_holds_the_share_and_stays_within_zero_and_one(share):
    correct, n = share
    low, high = wilson(correct, n)
    assert 0.0 <= low <= (correct / n if n else 0.5) <= high <= 1.0


def test_it_knows_nothing_without_observations():
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("correct, n, level", [(-1, 3, 0.95), (4, 3, 0.95), (1, 3, 0.0), (1, 3, 1.0)])
def test_it_refuses_what_cannot_be(correct, n, level):
    with pytest.raises(ValueError, match="must lie between"):
        wilson(correct, n, level)
