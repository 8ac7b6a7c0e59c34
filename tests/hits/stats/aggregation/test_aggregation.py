"""Methods of aggregation against the table of reference, another library, and sums by hand."""

import math
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation import GLAD, MACE, DawidSkene, MajorityVote
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.stats.aggregation import glad as glad_module
from hits.stats.aggregation.dawid_skene import dawid_skene
from hits.stats.aggregation.glad import glad
from hits.stats.aggregation.mace import mace
from hits.stats.aggregation.majority import majority, weighted_majority
from hits.stats.aggregation.results import NotFeasibleError
from hits.stats.answers import Answers
from hits.stats.majority import majority_of
from tests.hits.stats.labels import accuracy, real, simulated

# Those of the other library with a newer pandas.
pytestmark = pytest.mark.filterwarnings("ignore::Warning:crowdkit")

METHODS = {
    "shared": lambda answers: majority(answers, tie="shared"),
    "wrong": majority,
    "dawid_skene": dawid_skene,
    "glad": glad,
    "mace": lambda answers: mace(answers, seed=0),
}


@pytest.mark.parametrize(
    "name, method, expected",
    [
        ("rte", "shared", 0.8969), ("rte", "wrong", 0.8562), ("rte", "dawid_skene", 0.9275), ("rte", "glad", 0.925),
        ("rte", "mace", 0.92625), ("wsd", "shared", 0.9944), ("wsd", "wrong", 0.9944), ("wsd", "dawid_skene", 0.9944),
        ("dog", "shared", 0.8222), ("dog", "wrong", 0.7918), ("dog", "dawid_skene", 0.8426), ("dog", "glad", 0.834),
    ],
)  # fmt: skip
def test_real_labels_are_aggregated_as_well_as_the_table_of_reference_says(name, method, expected):
    answers, known = real(name)
    found = METHODS[method](answers)
    assert accuracy(answers, found.values, known) == pytest.approx(expected, abs=0.001)
    assert all(0 < share <= 1 + 1e-9 for share in found.confidence)
    assert set(found.workers) == set(answers.workers)


def test_the_values_of_glad_do_not_hang_on_how_a_machine_rounds(monkeypatch):
    answers, _ = real("rte")
    ones, noise = np.ones, np.random.default_rng(5)
    found = glad(answers)
    for _ in range(3):
        with monkeypatch.context() as patch:
            patch.setattr(np, "ones", lambda n: ones(n) + noise.normal(0, 1e-9, n))
            assert glad(answers).values == found.values


@pytest.mark.parametrize("name, expected", [("rte", 0.9187), ("dog", 0.8116)])
def test_with_the_other_librarys_choice_among_ties_the_majority_is_its_own(name, expected):
    answers, known = real(name)
    theirs = MajorityVote()
    chosen = theirs.fit_predict(frame(rows_of(answers)))
    columns = list(theirs.probas_.columns)
    # Of a tie it takes the label whose column comes first.
    mine = [
        min(value, key=columns.index) if isinstance(value, tuple) else value
        for value in majority(answers, tie="shared").values
    ]
    assert mine == [chosen[item] for item in answers.items]
    assert accuracy(answers, mine, known) == pytest.approx(expected, abs=0.001)


def rows_of(answers):
    return [
        (answers.items[item], answers.workers[worker], answers.values[value])
        for item, worker, value in zip(answers.item, answers.worker, answers.value, strict=True)
    ]


def frame(rows):
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


@pytest.mark.parametrize("seed", range(3))
def test_dawid_skene_and_mace_conclude_what_the_other_library_does(seed):
    rows, known = simulated(400, 5, 40, 3, seed=seed)
    answers = Answers.of(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = DawidSkene(n_iter=500, tol=1e-7).fit_predict_proba(frame(rows))
        mace_theirs = MACE(n_restarts=1).fit_predict(frame(rows))
    mine = dawid_skene(answers)
    theirs = theirs.loc[list(answers.items)]
    assert np.mean(theirs.idxmax(axis=1).to_numpy() == np.array(mine.values)) > 0.99
    # Where a worker never gave a label and never met it, the two spread what is not known in another way.
    assert np.mean(np.abs(mine.confidence - theirs.max(axis=1).to_numpy())) < 0.01
    found = mace(answers, seed=seed)
    assert np.mean(mace_theirs[list(answers.items)].to_numpy() == np.array(found.values)) > 0.97
    assert found.converged and mine.converged and 1 < mine.iterations < 100


@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_dawid_skene_is_what_loops_over_the_formulas_of_the_paper_give(iterations):
    rows, _ = simulated(40, 3, 6, 3, seed=8)
    # A common label: one in three answers is changed to it.
    rows = [(item, worker, "l0" if number % 3 == 0 else value) for number, (item, worker, value) in enumerate(rows)]
    answers = Answers.of(rows)
    said = {item: [(worker, value) for other, worker, value in rows if other == item] for item in answers.items}
    labels = answers.values
    truth = {i: {k: sum(v == k for _, v in told) / len(told) for k in labels} for i, told in said.items()}
    for _ in range(iterations):
        prior = {k: sum(truth[i][k] for i in said) / len(said) for k in labels}
        gave = {
            (w, v, k): max(1e-10, sum(truth[i][k] for i in said if (w, v) in said[i]))
            for w in answers.workers for v in labels for k in labels
        }  # fmt: skip
        error = {(w, v, k): n / sum(gave[w, other, k] for other in labels) for (w, v, k), n in gave.items()}
        for i, told in said.items():
            joint = {k: prior[k] * math.prod(error[w, v, k] for w, v in told) for k in labels}
            truth[i] = {k: joint[k] / sum(joint.values()) for k in labels}
    found = dawid_skene(answers, iterations=iterations)
    assert found.confidence == pytest.approx([max(truth[item].values()) for item in answers.items], abs=1e-9)


def test_glad_is_as_sure_as_the_other_library():
    rows, _ = simulated(25, 4, 8, 4, seed=2)
    answers, theirs = Answers.of(rows), GLAD().fit_predict_proba(frame(rows))
    mine = glad(answers)
    theirs = theirs.loc[list(answers.items)]
    assert np.mean(theirs.idxmax(axis=1).to_numpy() == np.array(mine.values)) > 0.97
    assert np.mean(np.abs(mine.confidence - theirs.max(axis=1).to_numpy())) < 0.02


def test_models_know_spammers_from_good_workers_and_beat_the_majority():
    rows, known = simulated(600, 5, 30, 4, seed=5, spammers=0.4)
    answers = Answers.of(rows)
    plain = accuracy(answers, majority(answers, tie="shared").values, known)
    right = {worker: [value == known[item] for item, who, value in rows if who == worker] for worker in answers.workers}
    for method in (METHODS["dawid_skene"], METHODS["mace"], METHODS["glad"]):
        found = method(answers)
        assert accuracy(answers, found.values, known) > plain + 0.03
        order = [np.mean(right[worker]) for worker in sorted(found.workers, key=found.workers.get)]
        assert np.mean(order[:8]) < np.mean(order[-8:]) - 0.3


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_neither_the_order_of_rows_nor_a_second_run_changes_anything(method):
    rows, _ = simulated(60, 4, 12, 3, seed=2)
    one, other = method(Answers.of(rows)), method(Answers.of(rows[::-1]))
    assert one.values == other.values and one.confidence.tolist() == other.confidence.tolist()
    assert (one.workers, one.iterations) == (other.workers, other.iterations)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_few_and_uniform_answers_are_aggregated_too(method):
    assert method(Answers.of([])).values == ()
    alone = method(Answers.of([("1", "ann", "a"), ("2", "ann", "b"), ("3", "ann", "a")]))
    assert len(alone.values) == 3 and set(alone.workers) == {"ann"}
    same = method(Answers.of([(f"{item}", worker, "a") for item in range(3) for worker in ("ann", "ben")]))
    assert same.values == ("a",) * 3 and same.confidence == pytest.approx([1, 1, 1])


rows = some.dictionaries(
    some.tuples(some.sampled_from("abcdef"), some.sampled_from("uvwxyz")), some.sampled_from("0123"), min_size=1
).map(lambda found: [(item, worker, value) for (item, worker), value in found.items()])


@settings(max_examples=200, deadline=None)
@given(rows, some.integers(0, 9))
def test_the_three_rules_of_ties(given_rows, seed):
    answers = Answers.of(given_rows)
    none, shared, seeded = (majority(answers, tie=tie, seed=seed) for tie in ("none", "shared", "seeded"))
    for at, item in enumerate(answers.items):
        said = [value for other, _, value in given_rows if other == item]
        most = max(map(said.count, said))
        best = tuple(sorted({value for value in said if said.count(value) == most}))
        assert none.values[at] == majority_of(said) == (best[0] if len(best) == 1 else None)
        assert shared.values[at] == (best[0] if len(best) == 1 else best)
        assert seeded.values[at] in best
        assert none.confidence[at] == pytest.approx(most / len(said))
    assert none.tied == shared.tied == seeded.tied == none.values.count(None)
    assert seeded.values == majority(answers, tie="seeded", seed=seed).values


def test_a_seed_chooses_among_ties_and_not_always_the_same():
    answers = Answers.of([(f"i{number}", worker, worker) for number in range(40) for worker in ("a", "b")])
    values = majority(answers, tie="seeded", seed=3).values
    assert 8 < values.count("a") < 32 and values != majority(answers, tie="seeded", seed=4).values


def test_who_was_right_on_known_answers_weighs_more():
    answers = Answers.of(
        [("1", "ann", "a"), ("1", "ben", "b"), ("1", "cleo", "b"), ("2", "ann", "a"), ("2", "dan", "b")]
    )
    found = weighted_majority(answers, {"ann": (18, 18), "ben": (1, 8), "cleo": (0, 3)})
    assert found.workers == {"ann": 0.95, "ben": 0.2, "cleo": 0.2, "dan": 0.5}
    assert found.values == ("a", "a")
    assert found.confidence == pytest.approx([0.95 / 1.35, 0.95 / 1.45])
    assert weighted_majority(answers, {}).values == ("b", None)


def test_an_item_with_a_known_answer_is_weighted_by_what_its_workers_did_on_the_others() -> None:
    """Ann is right on this one alone and Ben on all the others: counted with it, Ann would weigh as much as Ben."""
    answers = Answers.of([("known", "ann", "a"), ("known", "ben", "b"), ("other", "ann", "b"), ("other", "ben", "a")])
    known = {("known", "a"): True, ("known", "b"): False}
    accuracy = {"ann": (1, 1), "ben": (1, 2)}
    found = weighted_majority(answers, accuracy, known)
    # Without it Ann has (0 + 1) / (0 + 2) and Ben (1 + 1) / (1 + 2); with it, on the other item, 2 / 3 and 2 / 4.
    assert (found.values, found.confidence.tolist()) == (("b", "b"), pytest.approx([4 / 7, 4 / 7]))
    assert weighted_majority(answers, accuracy).values == ("a", "b")


def test_a_unit_with_five_thousand_texts_is_refused_with_a_sentence_or_counted():
    answers = Answers.of((f"i{number // 2}", f"w{number % 7}", f"text {number}") for number in range(10_000))
    assert majority(answers).tied == 5000
    for method in (dawid_skene, glad, lambda found: mace(found, seed=1)):
        with pytest.raises(NotFeasibleError, match="does not take so many different values.*Choose the majority"):
            method(answers)


def test_too_large_confusions_are_refused_with_the_methods_that_need_none():
    answers = Answers.of((f"i{number % 500}", f"w{number % 30}", f"class {number % 1000}") for number in range(3000))
    with pytest.raises(NotFeasibleError, match="Choose MACE or GLAD"):
        dawid_skene(answers)
    assert len(mace(answers, seed=1, restarts=1, iterations=1).values) == 500


def test_glad_refuses_more_answers_than_it_can_search(monkeypatch):
    monkeypatch.setattr(glad_module, "MOST_ANSWERS", 5)
    with pytest.raises(NotFeasibleError, match="at most 5 answers, and there are 6.*Choose Dawid-Skene"):
        glad(Answers.of((f"i{number}", "ann", "a") for number in range(6)))


def test_iterations_that_end_it_early_are_told():
    rows, _ = simulated(200, 3, 20, 3, seed=1)
    found = dawid_skene(Answers.of(rows), iterations=2)
    assert (found.iterations, found.converged) == (2, False)


FAST = {
    "dawid_skene": (20_000, dawid_skene, lambda: DawidSkene(n_iter=100)),
    "mace": (1000, lambda answers: mace(answers, seed=0, restarts=1), lambda: MACE(n_restarts=1)),
}


@pytest.mark.parametrize("method", FAST)
def test_it_takes_less_than_half_of_the_other_librarys_time_and_is_right_as_often(method):
    """A small size of `tests.benchmarks.aggregation`, which has the limits; here they are looser, for busy machines."""
    items, ours, theirs = FAST[method]
    rows, known = simulated(items, 5, 300, 4, seed=3)
    table = frame(rows)
    times = {"ours": math.inf, "theirs": math.inf}
    for _ in range(2):
        began = time.process_time()
        answers = Answers.of(rows)
        found = ours(answers)
        times["ours"] = min(times["ours"], time.process_time() - began)
        began = time.process_time()
        other = theirs().fit_predict(table)
        times["theirs"] = min(times["theirs"], time.process_time() - began)
    right = np.mean([other[item] == value for item, value in known.items()])
    assert accuracy(answers, found.values, known) == pytest.approx(right, abs=0.01)
    assert times["ours"] < times["theirs"] / 2
