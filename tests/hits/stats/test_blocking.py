import json
from dataclasses import replace
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from hits.stats.blocking import (
    AGREEMENT,
    KNOWN_ANSWERS,
    SUGGESTED,
    Evidence,
    Policy,
    PolicyError,
    Tally,
    binomial_p_below,
    crowd_average,
    workers_to_block,
)

cases = st.integers(0, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
crowds = st.lists(cases, min_size=1, max_size=30).map(
    lambda found: [Tally(f"W{i}", n, correct) for i, (correct, n) in enumerate(found)]
)
policies = st.builds(Policy, min_answers=st.integers(1, 60), floor=st.floats(0.05, 0.9), alpha=st.floats(0.001, 0.3))


def names(evidence):
    return [e.worker for e in evidence]


@given(cases, st.floats(0.0, 1.0))
def test_the_p_value_agrees_with_scipy(case, average):
    correct, n = case
    oracle = binomtest(correct, n, average, alternative="less").pvalue if n else 1.0
    assert binomial_p_below(correct, n, average) == pytest.approx(oracle, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("correct, average", [(0, 0.5), (100, 0.5), (19_000, 0.2), (49_500, 0.5), (81_000, 0.8)])
def test_the_p_value_is_stable_for_a_hundred_thousand_answers(correct, average):
    oracle = binomtest(correct, 100_000, average, alternative="less").pvalue
    assert binomial_p_below(correct, 100_000, average) == pytest.approx(oracle, rel=1e-7, abs=1e-12)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.integers(1, 15))
def test_the_p_value_is_the_exact_sum(case, sixteenths):
    (correct, n), p = case, Fraction(sixteenths, 16)
    exact = sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(correct + 1))
    assert binomial_p_below(correct, n, sixteenths / 16) == pytest.approx(float(exact), rel=1e-11)


@given(st.integers(1, 300), st.floats(0.01, 0.99))
def test_the_p_value_rises_with_every_right_answer(n, average):
    values = [binomial_p_below(correct, n, average) for correct in range(n + 1)]
    assert all(a <= b + 1e-12 for a, b in zip(values, values[1:], strict=False))
    assert values[-1] == 1.0


@given(crowds, policies)
def test_it_never_blocks_at_or_above_the_floor_nor_on_few_answers(crowd, policy):
    for evidence in workers_to_block(crowd, policy):
        assert evidence.accuracy < policy.floor
        assert evidence.scored >= policy.min_answers
        assert evidence.p_value < policy.alpha
        assert evidence.interval[0] <= evidence.accuracy <= evidence.interval[1]


@given(crowds, policies, st.randoms())
def test_the_order_of_the_workers_does_not_matter(crowd, policy, random):
    shuffled = random.sample(crowd, len(crowd))
    assert workers_to_block(shuffled, policy) == workers_to_block(crowd, policy)


@given(crowds, policies)
def test_whoever_is_worse_on_as_many_answers_is_blocked_too(crowd, policy):
    blocked = names(workers_to_block(crowd, policy))
    by_name = {tally.worker: tally for tally in crowd}
    for worker in blocked:
        better = by_name[worker]
        for tally in crowd:
            if tally.scored == better.scored and tally.correct <= better.correct:
                assert tally.worker in blocked


@given(crowds, policies)
def test_a_higher_floor_never_spares_a_worker(crowd, policy):
    wider = Policy(policy.check_every, policy.min_answers, min(0.99, policy.floor + 0.05), policy.alpha)
    assert set(names(workers_to_block(crowd, policy))) <= set(names(workers_to_block(crowd, wider)))


def test_it_blocks_the_guesser_and_spares_the_unlucky_beginner_and_the_average_worker():
    crowd = [
        Tally("average", 500, 260),
        Tally("guesser", 60, 5),
        Tally("worse", 80, 2),
        Tally("beginner", 19, 0),
        Tally("just-above", 50, 10),
    ]
    found = workers_to_block(crowd, Policy())
    assert names(found) == ["worse", "guesser"]
    assert found[1].average == pytest.approx(277 / 709)


def test_a_low_accuracy_that_is_not_significant_is_spared():
    crowd = [Tally("crowd", 1000, 220), Tally("low", 20, 3)]
    assert workers_to_block(crowd, Policy()) == []


def test_nobody_is_blocked_before_anything_is_scored():
    assert workers_to_block([Tally("A", 0, 0)], Policy()) == []
    assert workers_to_block([], Policy()) == []
    with pytest.raises(ValueError, match="No answer has been scored"):
        crowd_average([Tally("A", 0, 0)])


def test_the_average_pools_the_answers_not_the_workers():
    assert crowd_average([Tally("A", 90, 90), Tally("B", 10, 0)]) == 0.9


def test_evidence_survives_json():
    (evidence,) = workers_to_block([Tally("good", 100, 60), Tally("bad", 40, 1)], Policy())
    assert Evidence.from_dict(json.loads(json.dumps(evidence.to_dict()))) == evidence
    with pytest.raises(ValueError, match="exactly the keys"):
        Evidence.from_dict({"worker": "bad"})


def test_a_worker_with_two_tallies_is_refused():
    with pytest.raises(ValueError, match="these have several: \\['A'\\]"):
        workers_to_block([Tally("A", 30, 1), Tally("A", 30, 2), Tally("B", 9, 1)], Policy())


def test_more_right_than_scored_cannot_be():
    with pytest.raises(ValueError, match="5 correct of 4 scored"):
        Tally("A", 4, 5)


def test_a_policy_names_all_its_faults_at_once():
    with pytest.raises(PolicyError) as caught:
        Policy(check_every=0, min_answers=True, floor=1.0, alpha="0.01")
    assert [fault.split()[0] for fault in caught.value.faults] == ["check_every", "min_answers", "floor", "alpha"]


def test_a_policy_from_data_takes_defaults_and_refuses_unknown_keys():
    assert Policy.from_dict({"floor": 0.3}) == Policy(floor=0.3)
    with pytest.raises(PolicyError, match="^The blocking policy is wrong: unknown key 'flor'$"):
        Policy.from_dict({"flor": 0.3})


@pytest.mark.parametrize("correct, n, average", [(3, 2, 0.5), (-1, 2, 0.5), (1, 2, 1.1), (1, 2, float("nan"))])
def test_the_p_value_refuses_what_cannot_be(correct, n, average):
    with pytest.raises(ValueError, match="must lie between"):
        binomial_p_below(correct, n, average)


def test_parts_of_right_answers_count_as_a_whole_one_in_the_p_value():
    """In favour of the worker: 2.25 right answers are as many as 3."""
    others = [Tally(f"W{number}", 40, 20) for number in range(9)]
    (found,) = workers_to_block([*others, Tally("AX", 40, 9.25)], Policy(min_answers=20, floor=0.3, alpha=0.05))
    assert found.p_value == pytest.approx(binomtest(10, 40, found.average, alternative="less").pvalue, rel=1e-6)
    assert found.accuracy == 9.25 / 40


def test_a_policy_of_which_nothing_is_said_looks_every_thousand_answers_at_workers_with_twenty():
    fixed = {"check_every": 1000, "min_answers": 20, "floor": 0.2, "alpha": 0.01}
    assert Policy.from_dict({}) == Policy(**fixed, measure=KNOWN_ANSWERS, relative=False)
    assert Policy().to_dict() == fixed
    proposed = {"check_every": 100, "min_answers": 20, "floor": 0.5, "alpha": 0.01, "relative": True}
    assert SUGGESTED.to_dict() == proposed


def test_what_differs_from_the_usual_policy_is_kept_and_read_back():
    policy = Policy(measure=AGREEMENT, relative=True)
    assert policy.to_dict().items() >= {"measure": AGREEMENT, "relative": True}.items()
    assert Policy.from_dict(json.loads(json.dumps(policy.to_dict()))) == policy


def test_an_unknown_measure_and_a_relative_that_is_no_yes_or_no_are_faults():
    with pytest.raises(PolicyError, match="one of known_answers.*relative must be true or false, not 1") as caught:
        Policy(measure="charm", relative=1)
    assert len(caught.value.faults) == 2


@pytest.mark.parametrize(("name", "least"), [("check_every", 1), ("min_answers", 1)])
def test_one_answer_is_the_least_of_a_count(name, least):
    assert getattr(Policy(**{name: least}), name) == least
    with pytest.raises(PolicyError, match="at least 1, not 0"):
        Policy(**{name: least - 1})


@pytest.mark.parametrize("share", [0, 0.0, 1, 1.0, -0.5, "0.5"])
def test_a_share_lies_between_nothing_and_everything(share):
    for name in ("floor", "alpha"):
        with pytest.raises(PolicyError, match="above 0 and below 1"):
            Policy(**{name: share})


# Of four choices: chance makes a quarter right, the crowd has 80 %, and half-way between lie 52.5 %.
CROWD = [Tally(f"W{number}", 100, 82, 25.0) for number in range(24)]


def test_a_relative_floor_lies_between_chance_and_the_crowd():
    policy = Policy(min_answers=20, floor=0.5, alpha=0.01, relative=True)
    worker = Tally("careless", 100, 32, 25.0)
    (found,) = workers_to_block([*CROWD, worker], policy)
    assert (found.average, found.chance, found.share) == (0.8, 0.25, 0.5)
    assert found.floor == pytest.approx(0.525)
    assert workers_to_block([*CROWD, worker], Policy(min_answers=20, floor=0.2, alpha=0.01)) == []


def test_evidence_for_a_fixed_floor_tells_nothing_of_chance():
    (found,) = workers_to_block([*CROWD, Tally("guesser", 100, 15, 25.0)], Policy())
    assert (found.floor, found.chance, found.share) == (0.2, None, None)


def test_evidence_from_before_there_were_measures_is_of_right_answers():
    (found,) = workers_to_block([*CROWD, Tally("guesser", 100, 15, 25.0)], Policy())
    older = {name: value for name, value in found.to_dict().items() if name not in ("measure", "chance", "share")}
    assert Evidence.from_dict(older) == found
    del older["alpha"]
    with pytest.raises(ValueError, match="exactly the keys"):
        Evidence.from_dict(older)
    with pytest.raises(ValueError, match="exactly the keys"):
        Evidence.from_dict({**found.to_dict(), "mood": "bad"})


def test_as_improbable_as_the_policy_allows_is_not_yet_improbable_enough():
    crowd = [*CROWD, Tally("guesser", 20, 3)]
    (found,) = workers_to_block(crowd, Policy(alpha=0.01))
    assert workers_to_block(crowd, Policy(alpha=found.p_value)) == []
    assert workers_to_block(crowd, Policy(alpha=found.p_value * 1.001)) == [replace(found, alpha=found.p_value * 1.001)]


def test_a_worker_is_looked_at_from_the_least_number_of_answers_on():
    assert names(workers_to_block([*CROWD, Tally("A", 20, 0)], Policy(min_answers=20))) == ["A"]
    assert workers_to_block([*CROWD, Tally("A", 19, 0)], Policy(min_answers=20)) == []


def test_right_answers_are_counted_whole_and_agreement_in_shares():
    policy = Policy(floor=0.4)
    (right,) = workers_to_block([*CROWD, Tally("guesser", 1200, 15)], policy)
    assert right.counted == "15 of 1,200 scored answers were right"
    (agreed,) = workers_to_block([*CROWD, Tally("odd", 40, 9.25)], replace(policy, measure=AGREEMENT))
    assert agreed.counted == "9.25 of 40 answers that others gave too agreed with the others"


def test_of_two_as_inaccurate_the_one_with_more_answers_comes_first_then_the_name():
    crowd = [*CROWD, Tally("B", 40, 4), Tally("C", 80, 8), Tally("A", 40, 4)]
    assert names(workers_to_block(crowd, Policy())) == ["C", "A", "B"]


@pytest.mark.parametrize(("correct", "scored"), [(0, 0), (0, 3), (3, 3)])
def test_none_and_all_right_are_tallies(correct, scored):
    assert Tally("A", scored, correct).correct == correct
    with pytest.raises(ValueError, match="cannot be"):
        Tally("A", scored, -1)


def test_average_of_nobody_and_of_the_perfect_are_probabilities():
    assert binomial_p_below(0, 5, 0.0) == 1.0
    assert binomial_p_below(4, 5, 1.0) == 0.0
