"""How large a share of items has each label."""

from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.stats.label_shares import has_most, label_shares

Z = NormalDist().inv_cdf(0.975)
LABELS = some.frozensets(some.sampled_from("abcd"))


@settings(max_examples=40)
@given(some.lists(LABELS, min_size=1, max_size=30))
def test_shares_and_their_intervals_agree_with_an_independent_count(items):
    report = label_shares(items)
    assert report.n == len(items)
    assert {row.label for row in report.labels} == set().union(*items)
    for row in report.labels:
        count = sum(row.label in labels for labels in items)
        assert (row.count, row.share) == (count, count / len(items))
        assert row.low <= row.share <= row.high
        # Wilson's bounds are where the share lies z standard errors off.
        for bound in (row.low, row.high):
            assert len(items) * (row.share - bound) ** 2 == pytest.approx(Z**2 * bound * (1 - bound), abs=1e-9)
    assert bool(report.note) == (sum(map(len, items)) > len(items))


def test_the_note_says_by_how_much_several_labels_exceed_100_percent():
    assert "125.0 %, more than 100 %" in label_shares([{"a", "b"}, {"a"}, {"a"}, {"b"}]).note
    assert label_shares([{"a"}, {"b"}]).note == ""
    assert label_shares([]).to_dict() == {"n": 0, "labels": (), "note": ""} | {"labels": []}


@settings(max_examples=40)
@given(some.lists(LABELS, max_size=5))
def test_an_item_has_the_labels_that_more_than_half_give(answers):
    assert has_most(answers) == {
        label for label in "abcd" if sum(label in given for given in answers) > len(answers) / 2
    }
