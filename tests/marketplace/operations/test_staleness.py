"""Reads that answer as of some seconds ago, as programs have met them."""

from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from marketplace.models import Assignment, Controls, Hit
from marketplace.verbs import assignments, clock

pytestmark = pytest.mark.on_postgresql

ANSWER = {"a": ["1"]}


@pytest.fixture
def stale(settings: Any, db: None) -> None:
    settings.MARKETPLACE_TEST_CONTROLS = True
    Controls.objects.create(pk=1, stale_seconds=30)


def refusal(work: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as caught:
        work()
    return caught.value.response["TurkErrorCode"], caught.value.response["Error"]["Message"]


def test_a_new_hit_does_not_show_until_the_time_is_over(stale: None, mturk: Any, hit_type: Any, make_hit: Any) -> None:
    hit = make_hit(hit_type, now=clock.now())
    assert refusal(lambda: mturk.get_hit(HITId=hit.hit_id))[0] == "AWS.MechanicalTurk.HITDoesNotExist"
    assert mturk.list_hits()["NumResults"] == 0
    clock.advance(timedelta(seconds=31))
    assert mturk.get_hit(HITId=hit.hit_id)["HIT"]["HITStatus"] == "Assignable"
    assert mturk.list_hits()["NumResults"] == 1


def test_a_submission_does_not_show_and_cannot_be_judged_yet(
    stale: None, mturk: Any, hit_type: Any, make_hit: Any, worker: Any
) -> None:
    hit = make_hit(hit_type, now=clock.now() - timedelta(minutes=5))
    about = {"AssignmentId": assignments.accept(hit_type, worker, clock.now()).assignment_id}
    assignments.submit(about["AssignmentId"], ANSWER, clock.now())
    assert mturk.list_assignments_for_hit(HITId=hit.hit_id)["NumResults"] == 0
    assert mturk.list_reviewable_hits()["NumResults"] == 0
    code, words = refusal(lambda: mturk.approve_assignment(**about))
    assert (code, "status of: null" in words) == ("AWS.MechanicalTurk.InvalidAssignmentState", True)
    assert "AssignmentDoesNotExist" in refusal(lambda: mturk.get_assignment(**about))[0]
    clock.advance(timedelta(seconds=31))
    assert mturk.list_assignments_for_hit(HITId=hit.hit_id)["NumResults"] == 1
    assert mturk.list_reviewable_hits()["NumResults"] == 1
    mturk.approve_assignment(**about)
    assert Assignment.objects.get().status == "Approved"


def test_a_new_qualification_type_is_not_listed_yet(stale: None, mturk: Any) -> None:
    mturk.create_qualification_type(Name="Reader", Description="Reads", QualificationTypeStatus="Active")
    own = {"MustBeRequestable": False, "MustBeOwnedByCaller": True}
    assert mturk.list_qualification_types(**own)["NumResults"] == 0
    clock.advance(timedelta(seconds=31))
    assert mturk.list_qualification_types(**own)["NumResults"] == 1


def test_counters_and_status_are_those_of_then(
    stale: None, mturk: Any, hit_type: Any, make_hit: Any, make_worker: Any
) -> None:
    hit = make_hit(hit_type, max_assignments=3, now=clock.now() - timedelta(minutes=5))
    early = clock.now() - timedelta(minutes=1)
    first, second = (assignments.accept(hit_type, make_worker(name), early) for name in ("a", "b"))
    assignments.submit(first.assignment_id, ANSWER, early)
    assignments.submit(second.assignment_id, ANSWER, clock.now())
    assignments.approve(hit.requester, first.assignment_id, clock.now())
    assignments.accept(hit_type, make_worker("c"), clock.now())
    seen = mturk.get_hit(HITId=hit.hit_id)["HIT"]
    names = ("Pending", "Available", "Completed")
    assert [seen[f"NumberOfAssignments{name}"] for name in names] == [1, 1, 0]
    assert seen["HITStatus"] == "Assignable"
    assert mturk.list_hits()["HITs"] == [seen]
    kept = Hit.objects.get()
    assert (kept.pending, kept.submitted, kept.completed) == (1, 1, 1)
