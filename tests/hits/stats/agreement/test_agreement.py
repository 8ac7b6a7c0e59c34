"""Alpha and the kappas, held against other libraries, against sums by hand, and against simulated truth."""

import time
import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from statsmodels.stats import inter_rater

from hits.stats.agreement import alpha
from hits.stats.agreement.alpha import krippendorff_alpha, masi_distance
from hits.stats.agreement.counts import counts_of
from hits.stats.agreement.kappas import cohen_kappa, fleiss_kappa, pairwise
from hits.stats.agreement.overlap import span_distance
from hits.stats.answers import Answers, AnswersError
from tests.hits.stats.labels import real

GAP = None
matrices = some.integers(2, 6).flatmap(
    lambda workers: some.lists(
        some.lists(some.sampled_from([GAP, 0, 1, 2, 5]), min_size=workers, max_size=workers), min_size=1, max_size=12
    )
)
full = some.integers(2, 5).flatmap(
    lambda workers: some.lists(
        some.lists(some.sampled_from([0, 1, 2]), min_size=workers, max_size=workers), min_size=1, max_size=12
    )
)


def table(matrix):
    """Rows are items, columns workers."""
    return Answers.of(
        (f"i{i}", f"w{w}", value) for i, row in enumerate(matrix) for w, value in enumerate(row) if value is not GAP
    )


def oracle(matrix, level):
    values = np.array([[np.nan if value is GAP else value for value in row] for row in matrix], dtype=float).T
    pairable = [row for row in matrix if sum(value is not GAP for value in row) > 1]
    if len({value for row in pairable for value in row if value is not GAP}) < 2:
        return None
    return krippendorff.alpha(reliability_data=values, level_of_measurement=level)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@settings(max_examples=500, deadline=None)
@given(matrix=matrices)
def test_alpha_is_that_of_another_library(level, matrix):
    found = krippendorff_alpha(table(matrix), level, seed=1)
    expected = oracle(matrix, level)
    assert found.value == (None if expected is None else pytest.approx(expected, abs=1e-9))
    assert (found.value is None) == bool(found.why)


@settings(max_examples=500, deadline=None)
@given(full)
def test_fleiss_kappa_is_that_of_another_library_where_all_items_have_as_many_answers(matrix):
    found = fleiss_kappa(counts_of(table(matrix)), seed=1)
    counts, _ = inter_rater.aggregate_raters(np.array(matrix), n_cat=3)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = inter_rater.fleiss_kappa(counts)
    if len({value for row in matrix for value in row}) == 1:
        assert (found.value, found.why) == (None, "one value only")
    else:
        assert found.value == pytest.approx(expected, abs=1e-9)


@settings(max_examples=500, deadline=None)
@given(some.lists(some.tuples(*[some.sampled_from([GAP, 0, 1, 2])] * 2), min_size=1, max_size=14))
def test_cohens_kappa_is_that_of_another_library_over_what_both_answered(matrix):
    answers = table(matrix)
    found = cohen_kappa(answers, seed=1)
    both = [row for row in matrix if GAP not in row]
    if len(answers.workers) < 2 or not both:
        assert found.value is None and ("two annotators" in found.why)
        return
    crossed = np.zeros((3, 3))
    for one, other in both:
        crossed[one, other] += 1
    with np.errstate(all="ignore"):
        expected = inter_rater.cohens_kappa(crossed).kappa
    if np.isfinite(expected):
        assert found.value == pytest.approx(expected, abs=1e-9)
    else:
        assert (found.value, found.why) == (None, "one value only")


@pytest.mark.parametrize(
    "name, alpha, kappa", [("rte", 0.2415, 0.2414), ("wsd", 0.9372, 0.9372), ("dog", 0.5194, 0.5194)]
)
def test_real_crowds_agree_as_the_table_of_reference_says(name, alpha, kappa):
    answers, _ = real(name)
    found = krippendorff_alpha(answers, seed=1), fleiss_kappa(counts_of(answers), seed=1)
    for figure, expected in zip(found, (alpha, kappa), strict=True):
        assert figure.value == pytest.approx(expected, abs=0.001)
        assert figure.low < figure.value < figure.high < figure.value + 0.04


def test_items_with_unequal_numbers_of_answers_count_once_each_for_fleiss():
    answers = table([[0, 0, 0, 0], [0, 1, GAP, GAP], [1, GAP, GAP, GAP]])
    # Shares of agreeing pairs 1 and 0; of the six answers to these items five are 0.
    chance = (5 / 6) ** 2 + (1 / 6) ** 2
    assert fleiss_kappa(counts_of(answers), seed=1).value == pytest.approx((0.5 - chance) / (1 - chance))
    assert pairwise(counts_of(answers), seed=1).value == pytest.approx(12 / 14)


def test_masi_and_spans_are_as_worked_out_by_hand():
    assert masi_distance({"a", "b"}, {"a", "b"}) == 0 and masi_distance({"a"}, {"b"}) == 1
    assert masi_distance({"a"}, {"a", "b"}) == pytest.approx(1 - 1 / 2 * 2 / 3)
    assert masi_distance({"a", "b"}, {"b", "c"}) == pytest.approx(1 - 1 / 3 * 1 / 3)
    assert masi_distance((), ()) == 0 and masi_distance((), {"a"}) == 1
    assert span_distance([], []) == 0 and span_distance([], [(0, 1, "p")]) == 1
    # Two of the three spans share a character with one of the same label.
    assert span_distance([(0, 5, "p"), (9, 12, "p")], [(4, 6, "p")]) == pytest.approx(1 / 3)
    assert span_distance([(0, 5, "p")], [(0, 5, "q")]) == 1 and span_distance([(0, 5, "p")], [(5, 9, "p")]) == 1


@settings(max_examples=100, deadline=None)
@given(some.lists(some.lists(some.sampled_from(["", "a", "b", "ab", "bc"]), min_size=2, max_size=4), min_size=1))
def test_alpha_of_sets_is_what_its_definition_says(matrix):
    answers = table([[frozenset(text) for text in row] for row in matrix])
    values = [value for row in matrix for value in row]
    among = sum(masi_distance(one, other) for one in values for other in values)
    within = sum(sum(masi_distance(a, b) for a in row for b in row) / (len(row) - 1) for row in matrix)
    found = krippendorff_alpha(answers, "set", seed=1)
    if among:
        assert found.value == pytest.approx(1 - (len(values) - 1) * within / among)
    else:
        assert (found.value, found.why) == (None, "one value only")


def test_chance_from_a_draw_of_spans_is_close_to_that_of_all(monkeypatch):
    draw = np.random.default_rng(4)
    starts = draw.integers(0, 200, 150)
    matrix = [[frozenset({(int(s + d), int(s + d + 8), "p")}) for d in draw.integers(0, 9, 3)] for s in starts]
    every, some_of = [], []
    for most, found in ((10_000, every), (200, some_of)):
        monkeypatch.setattr("hits.stats.agreement.alpha.MOST_COMPARED", most)
        found.append(krippendorff_alpha(table(matrix), "span", seed=1).value)
    assert every[0] > 0.8 and some_of[0] == pytest.approx(every[0], abs=0.02)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_the_interval_holds_the_true_value_in_most_of_three_hundred_simulated_sets(level):
    """Of values 0 and 1, both as likely, of which an answer is right with p: A = p^2 + (1 - p)^2, alpha = 2 A - 1."""
    draw, inside, right = np.random.default_rng(11), 0, 0.85
    truth = 2 * (right**2 + (1 - right) ** 2) - 1
    for _ in range(300):
        value = draw.integers(0, 2, (80, 1))
        matrix = np.where(draw.random((80, 4)) < right, value, 1 - value)
        found = krippendorff_alpha(table(matrix.tolist()), level, seed=1)
        inside += found.low <= truth <= found.high
    assert 270 <= inside <= 297


def test_the_same_seed_gives_the_same_interval_and_another_one_another():
    matrix = [[0, 1, 1], [1, 1, 1], [0, 0, 1], [2, 2, 2], [0, 0, 0], [1, 0, 2]]
    one, same, other = (krippendorff_alpha(table(matrix), seed=seed) for seed in (1, 1, 2))
    assert one == same and one.value == other.value and (one.low, one.high) != (other.low, other.high)


def test_a_figure_that_is_not_defined_says_why():
    nothing, alone = Answers.of([]), table([[0], [1], [1]])
    for answers in (nothing, alone):
        assert krippendorff_alpha(answers, seed=1).why == "no item has two answers"
        assert krippendorff_alpha(answers, "set", seed=1).why == "no item has two answers"
        assert fleiss_kappa(counts_of(answers), seed=1).why == "no item has two answers"
        assert pairwise(counts_of(answers), seed=1).why == "no item has two answers"
    assert cohen_kappa(alone, seed=1).why == "it is for two annotators, and there are 1"
    same = table([[1, 1], [1, 1]])
    for level in ("nominal", "ordinal", "interval"):
        assert krippendorff_alpha(same, level, seed=1).why == "one value only"
    assert pairwise(counts_of(same), seed=1).value == 1
    apart = table([[0, GAP], [GAP, 1]])
    assert cohen_kappa(apart, seed=1).why == "the two annotators answered no item both"


def test_what_is_no_number_is_refused_on_a_scale():
    with pytest.raises(AnswersError, match="only numbers"):
        krippendorff_alpha(table([["good", "bad"]]), "interval", seed=1)
    ordered = krippendorff_alpha(table([["good", "bad"], ["good", "good"]]), "ordinal", order=["bad", "good"], seed=1)
    assert ordered.value == pytest.approx(0)


def test_large_numbers_with_small_differences_lose_no_digits():
    matrix = [[1, 2, 1], [3, 3, 2], [1, 1, 1]]
    shifted = [[value + 1e9 for value in row] for row in matrix]
    one, other = (krippendorff_alpha(table(each), "interval", seed=1).value for each in (matrix, shifted))
    assert one == pytest.approx(other, abs=1e-6)


def test_five_thousand_different_texts_of_one_unit_take_little_time():
    rows = [(f"i{number // 2}", f"w{number % 7}", f"text {number}") for number in range(5000)]
    began = time.process_time()
    answers = Answers.of(rows)
    assert krippendorff_alpha(answers, seed=1).value == pytest.approx(0, abs=0.01)
    assert fleiss_kappa(counts_of(answers), seed=1).value < 0.01
    assert time.process_time() - began < 10


@pytest.mark.parametrize("values", [3, 7])
def test_many_answers_to_one_item_differ_as_they_do_pair_by_pair(values, monkeypatch):
    answers = Answers.of([("i", f"w{n}", frozenset({n % values, n % 2})) for n in range(40)])
    by_pair = alpha.item_distances(answers, masi_distance)
    monkeypatch.setattr(alpha, "MANY_ANSWERS", 10)
    together = alpha.item_distances(answers, masi_distance)
    assert [np.allclose(one, other) for one, other in zip(by_pair, together, strict=True)] == [True, True]


def test_thousands_of_different_answers_to_one_item_take_seconds():
    answers = Answers.of([("i", f"w{n}", frozenset({n, n + 1})) for n in range(5000)])
    began = time.process_time()
    _, (apart,) = alpha.item_distances(answers, masi_distance)
    assert time.process_time() - began < 10
    assert apart == pytest.approx(5000 * 4999 / 2, rel=0.002)
