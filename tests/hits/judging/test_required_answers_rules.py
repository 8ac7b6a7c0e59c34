"""Stages whose items get further answers: what an item takes in the mean, what that saved, what may be named."""

from __future__ import annotations

from typing import Any

import pytest

from hits.judging.rules import required_answers
from hits.judging.rules.required_answers import expected, is_measured, saving, unknown_units
from hits.models import Stage
from tests.hits import factories as make
from tests.hits.doing import refused

pytestmark = pytest.mark.django_db


def growing(taken: list[list[int]] | None = None, **columns: Any) -> Stage:
    """2 to 5 answers an item; `taken` holds how many items took how many."""
    given = {"answers": 2, "most_answers": 5, "enough": "at least 2 agree on entity.correct", **columns}
    return make.stage(summary={"answers_taken": taken or []}, **given)


def test_a_fixed_number_is_what_an_item_takes_and_it_saves_nothing():
    fixed = growing([[5, 100]], answers=3, most_answers=None, enough="")
    assert (expected(fixed), saving(fixed), unknown_units(fixed)) == (3, None, [])


def test_twenty_decided_items_tell_what_an_item_takes():
    assert not is_measured(growing([[2, 10], [5, 9]]))
    measured = growing([[2, 15], [5, 5]])
    assert is_measured(measured) and expected(measured) == 2.75


def test_before_that_workers_are_taken_for_right_four_times_of_five():
    assert expected(growing([[5, 19]])) == pytest.approx(2.32, abs=0.06)


def test_what_was_saved_is_told_from_the_first_decided_item_on():
    assert saving(growing()) is None
    found = saving(growing([[2, 3], [5, 1]]))
    assert found is not None
    assert (found.rows, found.items, found.mean, found.fewer) == (((2, 3), (5, 1)), 4, 2.75, 9)


@pytest.mark.parametrize(
    ("enough", "unknown"),
    [
        ("at least 2 agree on entity", []),
        ("at least 2 agree on entity.correct", []),
        ("at least 2 agree on mood", ["mood"]),
        ("at least 2 agree on mood or at least 2 agree on entity.wrong", ["mood", "entity.wrong"]),
    ],
)
def test_a_condition_may_name_what_the_task_asks_and_whether_it_is_right(enough, unknown):
    stage = growing(enough=enough)
    assert required_answers.units_asked(stage) == ["entity"]
    assert unknown_units(stage) == unknown
    if not unknown:
        return required_answers.refuse(stage)
    with refused("unknown_unit") as caught:
        required_answers.refuse(stage)
    assert f"names {unknown[0]!r}, which the task does not ask. It asks: entity." in str(caught.value)


def test_a_condition_may_name_the_answer_to_one_of_several_questions():
    assert unknown_units(growing(enough="at least 2 agree on 3/entity")) == []
