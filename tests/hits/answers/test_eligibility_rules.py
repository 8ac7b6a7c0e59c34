"""Who may answer, and which recorded answers are held: the bounds of times, blocks, pauses and qualifications."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from hits.answers.rules.eligibility import Cause, Claim, Hold, Ineligible, held, judge, recheck
from hits.models import Assignment, Block, Grant, Hit, Item, Stage
from tests.hits import factories as make

pytestmark = pytest.mark.django_db
NOON, SECOND, MINUTE, HOUR = make.NOON, timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


def against(stage: Stage, worker: Any, hit: Hit | None = None, at: Any = None, key: str = "3NEW") -> Ineligible | None:
    """Why a worker may not answer; `at` is when the answer was submitted."""
    (found,) = judge(stage, [Claim(hit or make.hit(make.item(stage)), worker.worker_id, key, at)])
    return found


def holds(**columns: Any) -> Hold:
    """Of an answer of a stage that asks for nothing: why it is held."""
    hit = columns.pop("hit", None) or make.hit(make.item(make.stage(settings={"min_seconds": 0})))
    row = make.assignment(hit, **columns)
    return held([row])[row.pk]


# Claims


@pytest.mark.parametrize(
    ("at", "moment", "key", "after"),
    [
        (None, NOON, "3OTHER", True),
        (None, NOON, "3MINE", False),
        (NOON, NOON - SECOND, "3OTHER", True),
        (NOON, NOON + SECOND, "3OTHER", False),
        (NOON, NOON - SECOND, "3MINE", False),
        # Two of one second go by their ids.
        (NOON, NOON, "3A", True),
        (NOON, NOON, "3Z", False),
        (NOON, NOON, "", True),
    ],
)
def test_a_claim_comes_after_what_was_submitted_before_it(at: Any, moment: Any, key: str, after: bool) -> None:
    assert Claim(Hit(), "A1", "3MINE", at).comes_after(moment, key) is after


# Blocks and pauses


def test_a_block_keeps_its_worker_from_what_comes_after_it_in_its_project_alone() -> None:
    block = make.block(created_at=NOON)
    Block.objects.update(created_at=NOON)
    worker, stage = block.worker, block.stage
    assert against(stage, worker) == Ineligible(Cause.BLOCKED)
    assert against(stage, worker, at=NOON + SECOND) == Ineligible(Cause.BLOCKED)
    assert against(stage, worker, at=NOON - SECOND) is None
    assert against(stage, make.worker()) is None and against(make.stage(), worker) is None


def test_a_pause_keeps_its_worker_out_until_it_ends_and_what_is_recorded_meanwhile_counts() -> None:
    until = timezone.now() + HOUR
    pause = make.block(until=until)
    assert against(pause.stage, pause.worker) == Ineligible(Cause.PAUSED, until.isoformat())
    assert against(pause.stage, pause.worker, at=timezone.now()) is None
    Block.objects.update(until=timezone.now() - SECOND)
    assert against(pause.stage, pause.worker) is None


# The same item


def test_an_earlier_answer_to_the_item_and_no_later_one_speaks_against_another() -> None:
    stage, worker = make.stage(), make.worker()
    item = make.item(stage)
    first = make.assignment(make.hit(item), worker, submitted_at=NOON)
    again = make.hit(item, slot=2)
    assert against(stage, worker, again) == Ineligible(Cause.ANSWERED, first.assignment_id)
    assert against(stage, worker, again, NOON + SECOND) == Ineligible(Cause.ANSWERED, first.assignment_id)
    assert against(stage, worker, again, NOON - SECOND) is None
    assert against(stage, worker) is None and against(stage, make.worker(), again) is None


def test_of_a_hit_about_several_items_any_one_that_was_answered_speaks_against_it() -> None:
    stage, worker = make.stage(), make.worker()
    items = make.items(stage, 3)
    answered = make.assignment(make.hit(items[2], slot=2), worker, submitted_at=NOON)
    assert against(stage, worker, make.hit_about(items)) == Ineligible(Cause.ANSWERED, answered.assignment_id)
    assert against(stage, worker, make.hit_about(items[:2], slot=2)) is None


def test_who_wrote_an_item_is_kept_from_it_where_the_stage_excludes_their_stage() -> None:
    writing, worker = make.stage(), make.worker()
    source = make.item(writing)
    written = make.assignment(make.hit(source), worker, submitted_at=NOON)
    for excluded in ([writing.key], []):
        stage = make.stage(writing.project, not_workers_of=excluded)
        made = make.item(stage, parent=source, document=source.document)
        expected = Ineligible(Cause.ANSWERED, written.assignment_id) if excluded else None
        assert against(stage, worker, make.hit(made)) == expected


def test_where_an_item_may_be_made_of_several_stages_any_answer_of_the_others_about_its_document_counts() -> None:
    """It names the item of one of them as its parent."""
    first = make.stage()
    second = make.stage(first.project)
    document = make.document(first.project)
    source, sibling, other = (make.item(each, document=document) for each in (first, first, second))
    stage = make.stage(first.project, not_workers_of=[first.key, second.key])
    made = make.hit(make.item(stage, parent=source, document=document))
    beside, elsewhere = make.worker(), make.worker()
    answer = make.assignment(make.hit(other), beside, submitted_at=NOON)
    make.assignment(make.hit(sibling), elsewhere, submitted_at=NOON)
    assert against(stage, beside, made) == Ineligible(Cause.ANSWERED, answer.assignment_id)
    assert against(stage, elsewhere, made) is None


# Qualifications


def chosen(comparator: str) -> Stage:
    return make.stage(requirements=[{"qualification": "a-reader", "comparator": comparator}])


def test_a_qualification_that_is_asked_for_must_be_held() -> None:
    stage, worker = chosen("Exists"), make.worker()
    assert against(stage, worker) == Ineligible(Cause.LACKING, "a-reader")
    make.grant(stage.project, worker, key="an-other")
    make.grant(make.project(), worker, key="a-reader")
    make.qualification_test(make.project(), key="a-reader")
    assert against(stage, worker) == Ineligible(Cause.LACKING, "a-reader")
    make.grant(stage.project, worker, key="a-reader")
    assert against(stage, worker) is None and against(stage, make.worker()) is not None


def test_a_qualification_that_is_excluded_keeps_its_holder_out_from_when_it_was_given() -> None:
    stage, worker = chosen("DoesNotExist"), make.worker()
    assert against(stage, worker) is None
    make.grant(stage.project, worker, key="a-reader")
    Grant.objects.update(created_at=NOON)
    assert against(stage, worker) == Ineligible(Cause.KEPT_OUT, "a-reader")
    assert against(stage, worker, at=NOON - SECOND) is None
    Grant.objects.update(withdrawn_at=NOON + HOUR, state=Grant.State.WITHDRAWN)
    assert against(stage, worker) is None
    assert against(stage, worker, at=NOON + MINUTE) == Ineligible(Cause.KEPT_OUT, "a-reader")
    assert against(stage, worker, at=NOON + HOUR) is None


def test_who_answered_in_a_stage_that_gives_the_qualification_has_done_the_other_part() -> None:
    giving, worker = make.stage(grants="a-reader"), make.worker()
    stage = make.stage(giving.project, requirements=[{"qualification": "a-reader", "comparator": "DoesNotExist"}])
    row = make.assignment(make.hit(make.item(giving)), worker, submitted_at=NOON)
    assert against(stage, worker) == Ineligible(Cause.OTHER_PART, "a-reader")
    assert against(stage, worker, at=NOON - SECOND) is None
    # One that its worker was not eligible to give is no part of theirs, until a lead lets it count.
    for columns, cause in (
        ({"held_for": "blocked", "held": "Blocked."}, None),
        ({"held_for": "untimely", "held": "Too fast."}, Cause.OTHER_PART),
        ({"held_for": "blocked", "held": "Blocked.", "admitted": True}, Cause.OTHER_PART),
    ):
        Assignment.objects.filter(pk=row.pk).update(**columns)
        found = against(stage, worker)
        assert (found and found.cause) == cause
    make.grant(stage.project, worker, key="a-reader")
    assert against(stage, worker) == Ineligible(Cause.OTHER_PART, "a-reader"), "that it was given as well says less"


def test_an_answer_that_is_held_for_its_worker_leaves_the_other_part_free() -> None:
    worker = make.worker()
    giving = make.stage(
        grants="a-reader",
        settings={"min_seconds": 0},
        requirements=[{"qualification": "a-writer", "comparator": "Exists"}],
    )
    other = make.stage(
        giving.project,
        settings={"min_seconds": 0},
        requirements=[{"qualification": "a-reader", "comparator": "DoesNotExist"}],
    )
    first, second = (
        make.assignment(make.hit(make.item(stage)), worker, submitted_at=at, accepted_at=at - MINUTE)
        for stage, at in ((giving, NOON), (other, NOON + HOUR))
    )
    found = held([first, second])
    assert (found[first.pk].causes, found[second.pk].causes) == ((Cause.LACKING,), ())
    first.admitted = True
    assert held([first, second])[second.pk].causes == (Cause.OTHER_PART,)


# Times


@pytest.mark.parametrize(("late", "is_held"), [(15 * MINUTE, False), (15 * MINUTE + SECOND, True)])
def test_a_quarter_of_an_hour_after_the_end_an_answer_may_still_be_accepted(late: timedelta, is_held: bool) -> None:
    hit = make.hit(expires_at=NOON - late)
    found = holds(hit=hit, accepted_at=NOON, submitted_at=NOON + MINUTE)
    assert found.held == ("It was accepted after its HIT had expired." if is_held else "")
    assert found.held_for == ("untimely" if is_held else "")


@pytest.mark.parametrize(("over", "is_held"), [(15 * MINUTE, False), (15 * MINUTE + SECOND, True)])
def test_a_quarter_of_an_hour_after_its_time_an_answer_is_still_in_time(over: timedelta, is_held: bool) -> None:
    hit = make.hit(assignment_seconds=600)
    found = holds(hit=hit, accepted_at=NOON, submitted_at=NOON + 10 * MINUTE + over)
    assert found.held == ("It was submitted after the time for the assignment was over." if is_held else "")


def test_a_hit_about_several_items_takes_as_many_times_as_long() -> None:
    stage = make.stage(settings={"min_seconds": 30}, assignment_seconds=3600)
    hit = make.hit_about(make.items(stage, 2))
    for seconds, words in ((58, "submitted 58.0 s after it was accepted; this stage asks for 60 s"), (59, "")):
        found = holds(hit=hit, accepted_at=NOON, submitted_at=NOON + seconds * SECOND)
        assert words in found.held and bool(found.held) is bool(words)


def test_all_that_speaks_against_an_answer_is_said_with_its_causes_in_order() -> None:
    stage = make.stage(settings={"min_seconds": 30})
    block = make.block(stage)
    Block.objects.update(created_at=NOON - HOUR)
    row = make.assignment(make.hit(make.item(stage)), block.worker, submitted_at=NOON + SECOND, accepted_at=NOON)
    found = held([row])[row.pk]
    assert found.causes == (Cause.BLOCKED, Cause.UNTIMELY) and found.held_for == "blocked untimely"
    assert found.held.startswith("The worker was blocked when it was submitted. It was submitted 1.0 s after")


def test_an_answer_that_is_held_leaves_a_later_one_to_the_same_item_held_too() -> None:
    """Its worker has seen the item, whether or not the first answer counts."""
    stage, worker = make.stage(settings={"min_seconds": 0}), make.worker()
    item = make.item(stage)
    first, second = (
        make.assignment(
            make.hit(item, slot=n), worker, submitted_at=NOON + n * HOUR, accepted_at=NOON + n * HOUR - MINUTE
        )
        for n in (1, 2)
    )
    found = held([second, first])
    assert found[first.pk].causes == () and found[second.pk].causes == (Cause.ANSWERED,)
    assert f"before ({first.assignment_id})" in found[second.pk].held


def test_the_item_is_decided_again_also_where_the_answer_that_is_held_anew_had_no_label() -> None:
    hit = make.hit(make.item(make.stage(settings={"min_seconds": 30})))
    row = make.assignment(hit, accepted_at=NOON, submitted_at=NOON + SECOND)
    Item.objects.update(stale=False)
    assert recheck([row.pk]) == 1 and recheck([row.pk]) == 0
    row.refresh_from_db()
    assert row.held and Item.objects.get(pk=hit.item_id).stale
