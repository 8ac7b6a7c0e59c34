import math
import random
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from sklearn.metrics import accuracy_score

from hits.stats.human_bound import human_bound, pairwise_agreement, plan

UNITS = [f"t{number}/q1" for number in range(8)]
answered = some.dictionaries(
    some.sampled_from(["ann", "ben", "cleo", "dan"]),
    some.dictionaries(some.sampled_from(UNITS), some.sampled_from(["a0", "a1", "a2"])),
)


@settings(max_examples=80, deadline=None)
@given(answered, some.lists(some.sampled_from(["a0", "a1"]), min_size=8, max_size=8))
def test_accuracy_agreement_and_alpha_are_those_of_other_libraries(answers, right):
    intended = dict(zip(UNITS, right, strict=True))
    found = human_bound(answers, intended)
    for row in found.annotators:
        given = answers[row.annotator]
        expected = accuracy_score([intended[unit] for unit in given], list(given.values())) if given else None
        assert row.share == (pytest.approx(expected) if given else None)
    shares = [row.share for row in found.annotators if row.n]
    assert found.accuracy == (pytest.approx(np.mean(shares)) if shares else None)
    assert found.agreement == (pytest.approx(np.mean(agreements(answers))) if agreements(answers) else None)
    assert found.alpha == (pytest.approx(alpha(answers)) if alpha(answers) is not None else None)


def agreements(answers):
    """The share of equal answers of each two, one taken for the truth."""
    found = []
    for one, other in combinations(answers.values(), 2):
        both = sorted(set(one) & set(other))
        if both:
            found.append(accuracy_score([one[unit] for unit in both], [other[unit] for unit in both]))
    return found


def alpha(answers):
    """That of the package, which refuses what has no second value."""
    values = [[int(given[unit][1]) if unit in given else np.nan for unit in UNITS] for given in answers.values()]
    pairable = [unit for unit in UNITS if sum(unit in given for given in answers.values()) > 1]
    if len({given[unit] for given in answers.values() for unit in pairable if unit in given}) < 2:
        return None
    return krippendorff.alpha(reliability_data=values, level_of_measurement="nominal")


def test_simulated_annotators_come_out_at_the_accuracy_and_agreement_that_they_were_made_with():
    draw, skill, n = random.Random(3), [0.9, 0.8, 0.95, 0.7], 4000
    intended = {f"q{number}": draw.choice("AB") for number in range(n)}
    wrong = {"A": "B", "B": "A"}
    answers = {
        f"w{at}": {unit: value if draw.random() < p else wrong[value] for unit, value in intended.items()}
        for at, p in enumerate(skill)
    }
    found = human_bound(answers, intended)
    for row, p in zip(found.annotators, skill, strict=True):
        assert abs(row.share - p) < 4 * math.sqrt(p * (1 - p) / n)
        assert row.low < row.share < row.high
    for pair, (p, q) in zip(found.pairs, combinations(skill, 2), strict=True):
        both = p * q + (1 - p) * (1 - q)
        assert pair.n == n and abs(pair.share - both) < 4 * math.sqrt(both * (1 - both) / n)
    # With two answers that are as frequent, chance agreement is a half.
    assert found.alpha == pytest.approx(2 * found.agreement - 1, abs=0.01)


def test_agreement_is_over_what_both_answered_and_worked_out_by_hand():
    answers = {"ann": {"x": "a0", "y": "a1", "z": "a0"}, "ben": {"x": "a0", "y": "a0", "u": "a1"}, "cleo": {"u": "a1"}}
    rows = [(pair.annotators, pair.same, pair.n) for pair in pairwise_agreement(answers)]
    assert rows == [(("ann", "ben"), 1, 2), (("ben", "cleo"), 1, 1)]
    intended = {"x": "a0", "y": "a1", "z": "a1", "u": "a1"}
    found = human_bound(answers, intended)
    assert found.agreement == 0.75
    assert found.accuracy == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)
    # Values 3 x a0, 3 x a1 in pairs (a0, a0), (a1, a0), (a1, a1): 2 of 6 ordered pairs differ, 18 of 30 by chance.
    assert found.alpha == pytest.approx(1 - (2 / 6) / (18 / 30))
    assert found.to_dict()["pairs"][0]["share"] == 0.5


def test_without_answers_nothing_is_defined_and_an_unknown_unit_is_an_error():
    found = human_bound({"ann": {}, "ben": {}}, {})
    assert (found.accuracy, found.agreement, found.alpha, found.pairs) == (None, None, None, ())
    assert human_bound({"ann": {"x": 1}, "ben": {"x": 1}}, {"x": 1}).alpha is None
    with pytest.raises(KeyError):
        human_bound({"ann": {"x": "a0"}}, {})


@settings(max_examples=80, deadline=None)
@given(some.integers(0, 60), some.integers(1, 6), some.integers(0, 12), some.integers(0, 12), some.integers(0, 99))
def test_a_plan_deals_common_texts_to_all_and_every_other_one_to_nobody_else(n, annotators, own, common, seed):
    texts = [f"text {number}" for number in range(n)]
    lists = plan(texts, annotators=annotators, each=own + common, common=common, seed=seed)
    assert len(lists) == annotators
    assert all(len(set(mine)) == len(mine) for mine in lists)
    shared = set(lists[0]).intersection(*lists) if annotators > 1 else set(lists[0])
    assert set().union(*lists) <= set(texts)
    if annotators > 1:
        assert len(shared) == min(common, n)
        assert all(set(one) & set(other) == shared for one, other in combinations(lists, 2))
    assert {len(mine) for mine in lists} == {min(common, n) + min(own, max(n - common, 0) // annotators)}
    assert lists == plan(texts[::-1], annotators=annotators, each=own + common, common=common, seed=seed)


def test_the_papers_plan_is_five_times_sixty_texts_with_twenty_in_common_and_not_first():
    texts = [f"text {number}" for number in range(632)]
    lists = plan(texts, seed=1)
    assert [len(mine) for mine in lists] == [60] * 5
    assert len(set().union(*lists)) == 220
    shared = set(lists[0]).intersection(*lists)
    assert len(shared) == 20 and set(lists[0][:20]) != shared
    orders = {tuple(text for text in mine if text in shared) for mine in lists}
    assert len(orders) == 5
    assert lists != plan(texts, seed=2)


@pytest.mark.parametrize(
    "texts, numbers, reason",
    [(["a", "b", "a"], {}, "twice"), ([], {"each": 5, "common": 6}, "in common"), ([], {"annotators": 0}, "0 annot")],
)
def test_a_plan_that_cannot_be_is_refused(texts, numbers, reason):
    with pytest.raises(ValueError, match=reason):
        plan(texts, seed=1, **numbers)
