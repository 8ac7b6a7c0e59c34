"""Scales, comparisons of two, rankings and spans."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy import stats

from hits.stats.aggregation.borda import borda, in_order
from hits.stats.aggregation.bradley_terry import bradley_terry
from hits.stats.aggregation.scales import middle
from hits.stats.aggregation.spans import k_of_n
from hits.stats.answers import Answers, AnswersError


@settings(max_examples=100, deadline=None)
@given(some.lists(some.lists(some.integers(-9, 9), min_size=1, max_size=12), min_size=1, max_size=6))
def test_mean_and_median_are_those_of_other_libraries_with_their_intervals(matrix):
    answers = Answers.of(
        (f"{item:02}", f"{worker:02}", v) for item, row in enumerate(matrix) for worker, v in enumerate(row)
    )
    means, medians = middle(answers, "mean"), middle(answers, "median")
    for at, row in enumerate(matrix):
        assert means.values[at] == pytest.approx(np.mean(row)) and medians.values[at] == np.median(row)
        if len(row) == 1:
            assert np.isnan(means.intervals[at]).all() and np.isnan(medians.intervals[at]).all()
            continue
        low, high = means.intervals[at]
        half = stats.t.ppf(0.975, len(row) - 1) * np.std(row, ddof=1) / np.sqrt(len(row))
        assert (low, high) == pytest.approx((np.mean(row) - half, np.mean(row) + half))
        bounds = stats.quantile_test(row, q=0.0, p=0.5).confidence_interval(0.95)
        wanted = [min(row) if np.isnan(bounds.low) else bounds.low, max(row) if np.isnan(bounds.high) else bounds.high]
        assert medians.intervals[at].tolist() == wanted


def test_a_scale_of_words_has_a_median_that_is_one_of_them_and_workers_their_distance():
    rows = [("1", "u", "bad"), ("1", "v", "good"), ("1", "w", "good"), ("2", "u", "bad"), ("2", "v", "fair")]
    found = middle(Answers.of(rows), "median", order=["bad", "fair", "good"])
    assert found.values == ("good", "bad")
    assert found.workers == {"u": 1.0, "v": 0.5, "w": 0.0} and np.isnan(found.confidence).all()
    with pytest.raises(AnswersError, match="not a number"):
        middle(Answers.of(rows), "mean")
    assert middle(Answers.of([]), "mean").values == () == middle(Answers.of([]), "median").values


def test_strengths_are_those_that_comparisons_were_drawn_with():
    draw, strengths = np.random.default_rng(2), np.array([0.25, 0.5, 1.0, 2.0, 4.0])
    rows = []
    for number in range(4000):
        one, other = draw.choice(5, 2, replace=False)
        wins = draw.random() < strengths[one] / (strengths[one] + strengths[other])
        rows.append((f"w{number % 9}", f"t{one}", f"t{other}", "one" if wins else "other"))
    found = bradley_terry(rows)
    assert [thing.thing for thing in found.things] == ["t4", "t3", "t2", "t1", "t0"] and found.converged
    for thing in found.things:
        true = strengths[int(thing.thing[1])]
        assert thing.strength == pytest.approx(true, rel=0.2)
        assert thing.low < thing.strength < thing.high
        assert thing.confidence == pytest.approx(thing.strength / (1 + thing.strength))
    assert sum(thing.comparisons for thing in found.things) == 8000
    assert all(0.6 < share < 0.85 for share in found.workers.values())


def test_strengths_of_two_are_the_share_of_their_wins():
    """The imaginary games pull both alike: with many wins the ratio is that of the wins."""
    found = bradley_terry([("u", "a", "b", "one")] * 750 + [("v", "b", "a", "one")] * 250)
    strong, weak = found.things
    assert strong.strength / weak.strength == pytest.approx(3, rel=0.01)
    # The logarithm of the odds of 750 in 1,000 has the error sqrt(1 / 750 + 1 / 250), each strength half of it.
    error = np.sqrt(1 / 750 + 1 / 250) / 2
    assert np.log(strong.high / strong.strength) == pytest.approx(1.96 * error, rel=0.05)
    assert found.workers == {"u": 1, "v": 0}


def test_ties_and_what_always_wins_have_finite_strengths():
    found = bradley_terry([("u", "a", "b", "one")] * 5)
    assert found.things[0].thing == "a" and found.things[0].strength < 20
    tied = bradley_terry([("u", "a", "b", "tie")] * 5)
    assert [thing.strength for thing in tied.things] == pytest.approx([1, 1]) and tied.workers == {}
    assert bradley_terry([]).things == ()
    with pytest.raises(ValueError, match="with itself"):
        bradley_terry([("u", "a", "a", "one")])


def test_borda_is_worked_out_by_hand():
    rows = [("1", "u", ("a", "b", "c")), ("1", "v", ("a", "c", "b")), ("1", "w", ("b", "a", "c"))]
    found = borda(Answers.of(rows))
    # Points 5, 3 and 1; of nine pairs seven are in this order.
    assert found.values == (("a", "b", "c"),) and found.confidence == pytest.approx([7 / 9])
    assert found.workers == pytest.approx({"u": 1, "v": 2 / 3, "w": 2 / 3}) and found.tied == 0
    tied = borda(Answers.of([("1", "u", ("a", "b")), ("1", "v", ("b", "a"))]))
    assert (tied.values, tied.tied) == ((("a", "b"),), 1)
    assert in_order(("a",), ("a",)) == 1 and borda(Answers.of([])).values == ()
    with pytest.raises(AnswersError, match="not of the same things"):
        borda(Answers.of([("1", "u", ("a", "b")), ("1", "v", ("a", "c"))]))


def test_spans_that_more_than_half_marked_are_kept():
    one, other, alone = (0, 4, "p"), (6, 9, "q"), (2, 5, "p")
    rows = [("1", "u", frozenset({one, other})), ("1", "v", frozenset({one})), ("1", "w", frozenset({other, alone}))]
    rows += [("2", "u", frozenset()), ("2", "v", frozenset()), ("2", "w", frozenset({one}))]
    found = k_of_n(Answers.of(rows))
    assert found.values == ((one, other), ()) and found.confidence == pytest.approx([2 / 3, 2 / 3])
    assert found.workers["u"] == 1 and found.workers["w"] == pytest.approx((4 / 4 + 0) / 2)
    assert k_of_n(Answers.of([])).values == ()
