"""Taking a change of a trusted worker back, and taking it up again."""

from __future__ import annotations

from typing import Any

import pytest

from hits.items.verbs import undoing_changes
from hits.judging.rules.recipe_rows import labels_of
from hits.models import Label, Stage
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.reviews import review

pytestmark = pytest.mark.django_db
ALL = {f"q{number}_delete": "nonsensical" for number in (1, 2, 3)} | {"confirm_empty": "yes"}


@pytest.fixture
def stage() -> Stage:
    return make.stage(protocol="expert_review", key="review")


def units(stage: Stage) -> list[str]:
    return sorted(undoing_changes.changes(stage).values_list("unit", flat=True))


def label(stage: Stage, unit: str) -> Label:
    return stage.labels.get(unit=unit)


def test_only_what_changes_something_is_a_change(stage: Stage) -> None:
    review(stage, q1_correct="a fork", q2_delete="nonsensical")
    review(stage)
    assert stage.labels.count() == 4
    assert units(stage) == ["q1", "q2"]
    with refused("not_a_change", match="changes nothing"):
        undoing_changes.undo(stage.labels.filter(unit="text")[0].pk, None)


def test_labels_of_other_kinds_of_tasks_are_no_changes() -> None:
    plain = make.label(make.assignment(make.hit(make.item(make.stage()))), value={"action": "delete"})
    assert list(undoing_changes.changes(plain.stage)) == [] == list(undoing_changes.left_out(plain.stage))
    with refused("not_a_change"):
        undoing_changes.undo(plain.pk, None)
    with refused("not_a_change", match="not there"):
        undoing_changes.redo(plain.pk + 1, None)


def test_a_change_taken_back_is_not_handed_to_the_recipe_until_it_is_taken_up_again(stage: Stage) -> None:
    item = review(stage, q1_correct="a fork", q2_delete="nonsensical").hit.item
    lead, row = make.user("alice"), label(stage, "q1")

    def heard() -> set[str]:
        return {found.unit for found in labels_of([item.pk])[item.pk]}

    assert undoing_changes.undo(row.pk, lead)
    row.refresh_from_db()
    assert (row.undone_by, row.undone_at is None) == (lead, False)
    assert heard() == {"text", "q2"}
    assert undoing_changes.redo(row.pk, None)
    row.refresh_from_db()
    assert (row.undone_by, row.undone_at) == (None, None)
    assert heard() == {"text", "q1", "q2"}


def test_twice_is_once_and_the_first_one_stays_named(stage: Stage) -> None:
    review(stage, q1_correct="a fork")
    row = label(stage, "q1")
    first, second = make.user("alice"), make.user("bob")
    assert [undoing_changes.undo(row.pk, first), undoing_changes.undo(row.pk, second)] == [True, False]
    row.refresh_from_db()
    assert row.undone_by == first
    assert [undoing_changes.redo(row.pk, None), undoing_changes.redo(row.pk, None)] == [True, False]


def keys(stage: Stage) -> dict[str, str]:
    return {found.key: found.because for found in undoing_changes.left_out(stage)}


def test_a_text_whose_last_question_goes_is_left_out_until_one_of_them_comes_back(stage: Stage) -> None:
    gone = review(stage, **ALL).hit.item
    deleted = review(stage, text_delete="incoherent", confirm_empty="yes").hit.item
    review(stage, q1_delete="nonsensical", q2_correct="at once")
    assert keys(stage) == {gone.key: "No question is left.", deleted.key: "The text was deleted: it is incoherent."}
    undoing_changes.undo(gone.labels.get(unit="q2").pk, None)
    undoing_changes.undo(deleted.labels.get(unit="text").pk, None)
    assert keys(stage) == {}
    undoing_changes.redo(gone.labels.get(unit="q2").pk, None)
    assert list(keys(stage)) == [gone.key]


def test_void_labels_leave_nothing_out(stage: Stage) -> None:
    gone = review(stage, **ALL).hit.item
    gone.labels.update(void=True)
    assert keys(stage) == {}
    assert len(units(stage)) == 3, "they are still shown"


def test_what_is_left_out_costs_the_same_for_more_changes(stage: Stage, django_assert_num_queries: Any) -> None:
    for _ in range(12):
        review(stage, **ALL)
    with django_assert_num_queries(2):
        assert len(list(undoing_changes.left_out(stage))) == 12
