"""How far answers follow suggestions: the figures beside independent computations, and what is claimed of nothing."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as some
from statsmodels.stats.proportion import confint_proportions_2indep

from hits.stats.anchoring import FEWEST_WORKERS, Arm, Interval, compare, difference_interval, followed_interval

arms = some.integers(1, 400).flatmap(lambda of: some.builds(Arm, some.integers(0, of), some.just(of)))


@given(arms, arms)
def test_the_interval_of_the_difference_agrees_with_statsmodels(shown, hidden):
    oracle = confint_proportions_2indep(
        shown.same, shown.of, hidden.same, hidden.of, method="newcomb", compare="diff", alpha=0.05
    )
    # statsmodels' Wilson intervals leave a rounding error at the ends, and ours do not.
    assert difference_interval(shown, hidden) == pytest.approx(oracle, abs=1e-7)


def test_it_gives_the_intervals_of_newcombes_own_examples():
    """Newcombe (1998), table II, method 10: 56/70 and 48/80, 9/10 and 3/10, 10/10 and 0/10."""
    for (a, m), (b, n), printed in [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((10, 10), (0, 10), (0.6075, 1.0)),
    ]:
        assert difference_interval(Arm(a, m), Arm(b, n)) == pytest.approx(printed, abs=6e-5)


@pytest.mark.parametrize("shown, hidden", [(Arm(700, 1000), Arm(600, 1000)), (Arm(150, 300), Arm(160, 300))])
def test_with_many_answers_the_share_that_follows_has_the_interval_of_a_risk_ratio(shown, hidden):
    """By the score method, another one: the two come together as the answers get more."""
    low, high = confint_proportions_2indep(
        shown.of - shown.same, shown.of, hidden.of - hidden.same, hidden.of, method="score", compare="ratio"
    )
    assert followed_interval(shown, hidden) == pytest.approx((1 - high, 1 - low), abs=0.005)


@given(arms, arms)
def test_the_share_that_follows_lies_within_its_interval(shown, hidden):
    found = compare([(shown, hidden)], 1)
    if hidden.same == hidden.of:
        assert found.followed is None and found.followed_interval is None
        return
    assert found.followed_interval.low <= found.followed + 1e-9
    assert found.followed <= found.followed_interval.high + 1e-9
    assert found.followed_interval.high <= 1


def test_by_hand_of_a_few_answers():
    """Of ten answers in sight eight agree, of ten out of sight five: 3 of the 5 that would not agree follow."""
    found = compare([(Arm(8, 10), Arm(5, 10))], 1)
    assert found.difference == pytest.approx(0.3)
    assert found.followed == pytest.approx(0.6)
    assert found.over_workers is None


def test_an_arm_without_answers_gives_no_figure():
    for found in (compare([], 1), compare([(Arm(3, 4), Arm())], 1), compare([(Arm(), Arm(3, 4))], 1)):
        assert found.difference is None and found.followed is None and found.over_workers is None
        assert not found.is_followed and not found.is_avoided


def crowd(follow, workers, answers, seed, spread=0.0):
    """Workers who are in doubt about half of what they answer, and then guess among four; `spread` is of what they
    follow, from worker to worker either way.
    """
    draw = random.Random(seed)
    found = []
    for _ in range(workers):
        own = follow + draw.uniform(-spread, spread)
        arms = [[0, 0], [0, 0]]
        for _ in range(answers):
            shown, doubts = draw.random() < 0.5, draw.random() < 0.5
            agrees = not doubts or draw.random() < 0.25 or (shown and draw.random() < own)
            arms[shown][0] += agrees
            arms[shown][1] += 1
        found.append((Arm(*arms[1]), Arm(*arms[0])))
    return found


def test_the_intervals_have_the_truth_as_often_as_they_say():
    hits = {"difference": 0, "followed": 0, "workers": 0, "none": 0}
    rounds = 200
    for seed in range(rounds):
        found = compare(crowd(0.3, 20, 40, seed), seed)
        hits["difference"] += found.difference_interval.has(0.3 * 0.5 * 0.75)
        hits["followed"] += found.followed_interval.has(0.3)
        hits["workers"] += found.over_workers.followed.has(0.3)
        hits["none"] += not compare(crowd(0.0, 20, 40, seed), seed).is_followed
    # 95 % of 200 are 190, with a standard error of 3; the bootstrap of twenty workers is a little too narrow.
    assert hits["difference"] >= 181 and hits["followed"] >= 181
    assert hits["workers"] >= 175
    assert hits["none"] >= 190


def test_where_workers_differ_the_interval_over_workers_is_the_wider_one():
    found = compare(crowd(0.5, 12, 400, 3, spread=0.5), 3)
    over, own = found.over_workers.difference, found.difference_interval
    assert over.high - over.low > 1.3 * (own.high - own.low)


def test_the_same_seed_gives_the_same_intervals_and_few_workers_give_none():
    rows = crowd(0.3, FEWEST_WORKERS, 30, 5)
    assert compare(rows, 5) == compare(rows, 5)
    assert compare(rows, 5).over_workers.difference != compare(rows, 6).over_workers.difference
    assert compare(rows[1:], 5).over_workers is None


def test_something_is_claimed_only_where_both_intervals_leave_nought_out():
    """One worker of twelve follows everything: of these answers it is shown, of others it is not."""
    rows = [(Arm(2000, 2000), Arm(1000, 2000)), *[(Arm(100, 200), Arm(100, 200))] * 11]
    found = compare(rows, 2)
    assert found.difference_interval.low > 0
    assert found.over_workers.difference.has(0)
    assert not found.is_followed
    assert Interval(0.0, 0.1).has(0.0)
