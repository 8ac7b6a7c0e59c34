"""Which labels, items and workers differ."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.stats.agreement.confusion import (
    confusion,
    differences,
    disagreement,
    entropies,
    others_consensus,
    worst_items,
)
from hits.stats.answers import Answers
from hits.stats.majority import majority_of

rows = some.dictionaries(
    some.tuples(some.sampled_from("abcdef"), some.sampled_from("uvwxyz")), some.sampled_from("0123"), min_size=1
).map(lambda found: [(item, worker, value) for (item, worker), value in found.items()])


@settings(max_examples=300, deadline=None)
@given(rows)
def test_the_consensus_of_the_others_is_their_majority(given_rows):
    answers = Answers.of(given_rows)
    found = others_consensus(answers).tolist()
    by_item = defaultdict(list)
    for item, worker, value in given_rows:
        by_item[item].append((worker, value))
    for item, worker, at in zip(answers.item.tolist(), answers.worker.tolist(), found, strict=True):
        others = [value for other, value in by_item[answers.items[item]] if other != answers.workers[worker]]
        assert (answers.values[at] if at >= 0 else None) == majority_of(others)


@settings(max_examples=200, deadline=None)
@given(rows)
def test_entropy_and_disagreement_are_what_they_say(given_rows):
    answers = Answers.of(given_rows)
    by_item, by_answer = disagreement(answers, "nominal")
    said = defaultdict(list)
    for item, _, value in given_rows:
        said[item].append(value)
    for at, item in enumerate(answers.items):
        shares = np.array(list(Counter(said[item]).values())) / len(said[item])
        assert entropies(answers)[at] == pytest.approx(-(shares * np.log2(shares)).sum())
        if len(said[item]) == 1:
            assert np.isnan(by_item[at])
        else:
            pairs = [(a, b) for i, a in enumerate(said[item]) for b in said[item][:i]]
            assert by_item[at] == pytest.approx(np.mean([a != b for a, b in pairs]))
    for at, own in enumerate(by_answer.tolist()):
        others = list(said[answers.items[answers.item[at]]])
        others.remove(answers.values[answers.value[at]])
        expected = np.mean([other != answers.values[answers.value[at]] for other in others]) if others else np.nan
        assert own == pytest.approx(expected, nan_ok=True)


@settings(max_examples=200, deadline=None)
@given(rows)
def test_each_answer_with_a_partner_stands_once_in_the_confusion_matrix(given_rows):
    answers = Answers.of(given_rows)
    found = confusion(answers)
    table = np.array(found.table)
    assert table == pytest.approx(table.T, abs=0.02)
    assert table.sum() == pytest.approx(answers.per_item()[answers.per_item() > 1].sum(), abs=0.2)


def test_confusion_is_worked_out_by_hand_and_shows_the_commonest_labels():
    answers = Answers.of([("1", "u", "a"), ("1", "v", "a"), ("1", "w", "b"), ("2", "u", "b"), ("2", "v", "c")])
    found = confusion(answers)
    assert found.labels == ("a", "b", "c")
    assert found.table == ((1.0, 1.0, 0.0), (1.0, 0.0, 1.0), (0.0, 1.0, 0.0))
    fewer = confusion(answers, most=2)
    assert (fewer.labels, fewer.left_out) == (("a", "b"), 1) and fewer.table == ((1.0, 1.0), (1.0, 0.0))


def test_who_differs_most_is_first_but_not_by_a_single_answer():
    truth = {f"i{number}": "yes" if number % 2 else "no" for number in range(30)}
    given_rows = [(item, worker, value) for item, value in truth.items() for worker in ("ann", "ben", "cleo")]
    given_rows += [(item, "dan", "yes") for item in truth] + [("i0", "eve", "yes")]
    answers = Answers.of(given_rows)
    found = differences(answers, disagreement(answers, "nominal")[1])
    assert [row.worker for row in found][:2] == ["dan", "eve"]
    dan = found[0]
    assert (dan.items, dan.compared, dan.same, dan.mistaken) == (30, 30, 15, (("no", "yes", 15),))
    assert dan.low < 0.5 < dan.high and found[1].distance == pytest.approx(3 / 4)


def test_on_a_scale_items_differ_by_their_deviation_and_workers_by_their_distance():
    answers = Answers.of([("1", "u", 1), ("1", "v", 1), ("1", "w", 4), ("2", "u", 2), ("2", "v", 2), ("3", "u", 9)])
    by_item, by_answer = disagreement(answers, "interval")
    assert by_item[:2] == pytest.approx([np.std([1, 1, 4], ddof=1), 0]) and np.isnan(by_item[2])
    assert by_answer[:3] == pytest.approx([1.5, 1.5, 3.0])
    assert worst_items(answers, by_item, 5) == [("1", pytest.approx(1.7320508))]


def test_spans_and_sets_differ_by_their_distance():
    spans = [frozenset({(0, 4, "p")}), frozenset({(2, 6, "p")}), frozenset()]
    answers = Answers.of([("1", f"w{number}", value) for number, value in enumerate(spans)])
    by_item, by_answer = disagreement(answers, "span")
    assert by_item.tolist() == [pytest.approx(2 / 3)] and by_answer.tolist() == pytest.approx([0.5, 0.5, 1])


def test_without_answers_there_is_nothing():
    answers = Answers.of([])
    by_item, by_answer = disagreement(answers, "nominal")
    assert entropies(answers).tolist() == [] and worst_items(answers, by_item, 3) == []
    assert differences(answers, by_answer) == [] and confusion(answers).labels == ()
