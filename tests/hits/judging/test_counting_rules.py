"""Which labels are void, and which items are decided again when that changes."""

from __future__ import annotations

from typing import Any

import pytest

from hits.judging.rules.counting import recount
from hits.models import Assignment, Block, Item, Label
from tests.hits import factories as make

pytestmark = pytest.mark.django_db
State = Assignment.State


def labelled(**columns: Any) -> Label:
    """The label of an answer, with its item decided."""
    row = make.label(make.assignment(**columns))
    Item.objects.update(stale=False)
    return row


def after_recount(row: Label) -> tuple[bool, bool]:
    """(the label is void, its item is decided again)"""
    recount(Assignment.objects.filter(pk=row.assignment_id))
    row.refresh_from_db()
    return row.void, Item.objects.get(pk=row.item_id).stale


@pytest.mark.parametrize(
    ("columns", "counts"),
    [
        ({}, True),
        ({"state": State.SUBMITTED}, True),
        ({"state": State.REJECTED}, False),
        ({"problem": "Nothing was answered."}, False),
        ({"held": "It came too late."}, False),
        ({"held": "It came too late.", "admitted": False}, False),
        ({"held": "It came too late.", "admitted": True}, True),
        ({"held": "It came too late.", "admitted": True, "state": State.REJECTED}, False),
    ],
)
def test_labels_of_rejected_invalid_and_held_answers_are_void(columns: Any, counts: bool) -> None:
    row = labelled(**columns)
    assert after_recount(row) == (not counts, not counts)


def test_a_label_counts_again_when_nothing_speaks_against_its_answer_any_more() -> None:
    row = labelled(state=State.REJECTED)
    assert after_recount(row) == (True, True)
    Item.objects.update(stale=False)
    assert after_recount(row) == (True, False), "what stays as it was is not decided again"
    Assignment.objects.update(state=State.APPROVED)
    assert after_recount(row) == (False, True)


@pytest.mark.parametrize(
    ("where", "state", "void"),
    [
        ("project", Block.State.GRANTED, True),
        ("project", Block.State.INTENDED, True),
        ("project", Block.State.LIFTING, False),
        ("project", Block.State.UNDONE, False),
        ("elsewhere", Block.State.GRANTED, False),
    ],
)
def test_a_block_in_the_project_makes_all_labels_of_its_worker_void(where: str, state: str, void: bool) -> None:
    row = labelled()
    stage = make.stage(row.stage.project if where == "project" else None)
    make.block(stage, row.worker, state=state)
    assert after_recount(row) == (void, void)


def test_a_block_of_somebody_else_and_a_pause_make_none_void() -> None:
    row = labelled()
    make.block(row.stage)
    make.block(row.stage, row.worker, until=make.NOON)
    assert after_recount(row) == (False, False)


def test_only_the_answers_that_are_named_are_counted_anew() -> None:
    row, other = labelled(state=State.REJECTED), labelled(state=State.REJECTED)
    assert after_recount(row) == (True, True)
    other.refresh_from_db()
    assert not other.void and not Item.objects.get(pk=other.item_id).stale


def test_what_was_made_from_an_answer_is_decided_again_with_it() -> None:
    row = labelled(state=State.REJECTED)
    made, beside = make.item(source=row.assignment), make.item(source=labelled().assignment)
    Item.objects.update(stale=False)
    recount(Assignment.objects.filter(pk=row.assignment_id))
    assert set(Item.objects.filter(stale=True)) == {row.item, made} and beside not in Item.objects.filter(stale=True)
