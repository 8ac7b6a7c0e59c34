"""Scores with intervals, and the test whether two systems differ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, bootstrap

from hits.stats.scores import Compared, difference, means, scores


def drawn(n: int, share: float, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(n) < share


def test_an_interval_of_right_and_wrong_is_near_the_exact_one() -> None:
    right = drawn(400, 0.7, 1)
    (told,) = scores(Compared({"accuracy": means(right)}), 7)
    exact = binomtest(int(right.sum()), 400).proportion_ci(method="wilson")
    assert told.value == right.mean() and told.n == 400
    assert told.low == pytest.approx(exact.low, abs=0.01) and told.high == pytest.approx(exact.high, abs=0.01)


@pytest.mark.parametrize("right", [0, 1])
def test_where_all_are_right_or_wrong_the_interval_is_wilsons(right: int) -> None:
    (score,) = scores(Compared({"accuracy": means([right] * 13)}), 7)
    low, high = binomtest(13 * right, 13).proportion_ci(method="wilson")
    assert (score.low, score.high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))


def test_intervals_hold_the_true_score_about_95_times_in_100() -> None:
    told = [scores(Compared({"accuracy": means(drawn(200, 0.6, seed))}), seed)[0] for seed in range(200)]
    assert 180 <= sum(one.low <= 0.6 <= one.high for one in told) <= 199


def test_each_part_is_scored_over_its_own_items_and_items_of_no_part_over_all() -> None:
    kinds = ["text", "script", "", "text"]
    told = scores(Compared({"accuracy": means([1, 0, 1, 0])}, {"question type": kinds}), 7)
    assert [(one.division, one.part, one.n, one.value) for one in told] == [
        ("", "", 4, 0.5),
        ("question type", "script", 1, 0.0),
        ("question type", "text", 2, 0.5),
    ]


def test_a_score_of_sums_weighs_items_by_what_they_count() -> None:
    told = scores(Compared({"f1": (np.array([2.0, 0.0, 0.0]), np.array([2.0, 6.0, 0.0]))}), 7)[0]
    assert told.value == 0.25 and told.low <= 0.25 <= told.high


def test_the_interval_of_a_score_of_sums_is_that_of_scipy() -> None:
    draw = np.random.default_rng(3)
    below = draw.integers(1, 9, 250).astype(float)
    above = np.floor(below * draw.random(250))
    told = scores(Compared({"f1": (above, below)}), 7)[0]
    ratio = lambda one, other, axis=-1: one.sum(axis) / other.sum(axis)  # noqa: E731
    other = bootstrap((above, below), ratio, paired=True, method="percentile", n_resamples=4000, rng=5)
    assert told.low == pytest.approx(other.confidence_interval.low, abs=0.006)
    assert told.high == pytest.approx(other.confidence_interval.high, abs=0.006)


def test_where_nothing_counts_the_score_is_zero() -> None:
    told = scores(Compared({"f1": (np.zeros(3), np.zeros(3))}), 7)[0]
    assert (told.value, told.low, told.high) == (0, 0, 0)


def test_the_same_answers_do_not_differ_and_better_ones_do() -> None:
    worse = drawn(300, 0.6, 1)
    better = worse | drawn(300, 0.5, 2)
    assert difference(means(worse), means(worse), 7) == (0.0, 1.0)
    by, p = difference(means(better), means(worse), 7)
    assert by == better.mean() - worse.mean() and p < 0.001


def test_the_p_of_right_and_wrong_is_that_of_the_sign_test() -> None:
    first = np.array([1] * 12 + [0] * 4 + [1] * 30)
    second = np.array([0] * 12 + [1] * 4 + [1] * 30)
    _, p = difference(means(first), means(second), 7)
    assert p == pytest.approx(binomtest(12, 16).pvalue, abs=0.01)


def test_equally_good_systems_seldom_seem_to_differ() -> None:
    p = [difference(means(drawn(80, 0.5, seed)), means(drawn(80, 0.5, 1000 + seed)), 7)[1] for seed in range(60)]
    assert sum(each < 0.05 for each in p) <= 8


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12))
def test_who_is_named_first_changes_the_sign_alone(pairs: list[tuple[bool, bool]]) -> None:
    first, second = (means([pair[at] for pair in pairs]) for at in (0, 1))
    by, p = difference(first, second, 7)
    other, q = difference(second, first, 7)
    assert by == pytest.approx(-other) and p == pytest.approx(q, abs=0.02)


def test_of_many_items_fewer_swaps_are_drawn() -> None:
    first, second = (means(np.arange(50_000) % 2 == at) for at in (0, 1))
    better = means(np.ones(50_000))
    assert difference(better, first, 7)[1] == 1 / 1000
    assert difference(first, second, 7)[1] == 1.0


def test_systems_that_answered_different_items_are_not_compared() -> None:
    with pytest.raises(ValueError, match="2 items cannot be compared with 3"):
        difference(means([1, 0]), means([1, 0, 1]), 7)
