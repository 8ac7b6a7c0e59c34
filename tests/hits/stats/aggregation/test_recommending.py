"""Which method of aggregation is recommended, and where the answers contradict what a method assumes."""

import pytest

from hits.stats.aggregation.methods import METHODS
from hits.stats.aggregation.recommending import ASSUMES, _truth, compare, warnings
from hits.stats.aggregation.results import Aggregated
from hits.stats.answers import Answers
from tests.benchmarks.recommending import compared, crowd


@pytest.mark.parametrize("share, kind, each", [(0.05, "spammers", 9), (0.12, "good", 5), (0.5, "biased", 9)])
def test_the_recommended_method_is_within_a_point_of_the_best(share, kind, each):
    right, chosen = compared(*crowd(share, kind, each, 77))
    assert right[chosen] >= max(right.values()) - 0.01
    assert min(right.values()) < right[chosen] - 0.01 or kind == "good"


def test_every_method_says_what_it_assumes():
    assert ASSUMES.keys() == METHODS.keys()


@pytest.mark.parametrize(
    "share, each, warned", [(0.12, 5, {"mace", "glad"}), (0.5, 5, set()), (0.5, 2, {"dawid_skene"})]
)
def test_answers_that_contradict_an_assumption_are_told(share, each, warned):
    answers, _ = crowd(share, "good", each, 5)
    truth = _truth(answers)
    assert {name for name in METHODS if warnings(name, answers, truth)} == warned


def test_gold_answers_go_before_what_is_expected():
    answers = Answers.of([("1", worker, "a") for worker in "uvw"] + [("2", "u", "b")])
    found = {"majority": Aggregated("majority", ("a", "b"), None), "mace": Aggregated("MACE", ("b", "a"), None)}
    rows = [
        {"method": name, "title": name, "accuracy": {"right": right, "of": 2}}
        for name, right in (("majority", 1), ("mace", 2))
    ]
    assert compare(answers, "nominal", rows, found)["method"] == "mace"
    for row in rows:
        row["accuracy"] = None
    assert compare(answers, "nominal", rows, found)["method"] == "majority"
