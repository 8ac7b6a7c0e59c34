"""Answers as arrays."""

import random

import pytest

from hits.stats.answers import Answers, AnswersError


def test_the_order_of_the_rows_changes_nothing():
    rows = [(f"i{number % 7}", f"w{number % 5}", number % 3) for number in range(35)]
    one = Answers.of(rows)
    random.Random(1).shuffle(rows)
    other = Answers.of(rows)
    assert (one.items, one.workers, one.values) == (other.items, other.workers, other.values)
    assert (one.item == other.item).all() and (one.worker == other.worker).all() and (one.value == other.value).all()


def test_numbers_are_ordered_by_size_and_of_two_answers_of_one_worker_the_first_counts():
    answers = Answers.of([("i", "ann", 10), ("i", "ben", 9), ("i", "ann", 9)])
    assert answers.values == (9, 10) and len(answers) == 2
    assert answers.numbers().tolist() == [9, 10]
    assert answers.value.tolist() == [1, 0]


def test_nothing_is_a_table_without_rows():
    answers = Answers.of([])
    assert len(answers) == 0 and answers.per_item().tolist() == []


@pytest.mark.parametrize("values", [("a", 1), (True, 1), (float("inf"), 1), ("12", 13)])
def test_what_is_no_number_is_not_on_a_scale(values):
    answers = Answers.of([("i", f"w{number}", value) for number, value in enumerate(values)])
    with pytest.raises(AnswersError, match="is not a number"):
        answers.numbers()


def test_nan_is_refused_everywhere():
    with pytest.raises(AnswersError, match="Leave it out"):
        Answers.of([("i", "ann", float("nan")), ("i", "ben", 1)])


def test_an_order_places_its_values_and_refuses_others():
    answers = Answers.of([("i", "ann", "low"), ("i", "ben", "high")])
    assert dict(zip(answers.values, answers.places(["low", "middle", "high"]), strict=True)) == {"low": 0, "high": 2}
    with pytest.raises(AnswersError, match="'high' is not in the order"):
        answers.places(["low", "middle"])
