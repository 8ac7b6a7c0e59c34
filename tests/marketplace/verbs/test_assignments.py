from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from marketplace.models import Assignment, Hit, HitType
from marketplace.rules.errors import (
    AssignmentRefused,
    DoesNotExist,
    DoesNotMeetRequirements,
    NoHitsAvailable,
)
from marketplace.rules.qualifications import normalise
from marketplace.verbs import accounts, assignments, hits, tokens
from tests.marketplace.refusals import refused

pytestmark = pytest.mark.on_postgresql

ANSWER = {"choice": ["yes"]}


def test_accepting_holds_a_slot_until_the_deadline(hit: Hit, hit_type: HitType, worker: Any, now: datetime) -> None:
    held = assignments.accept(hit_type, worker, now)
    assert held.deadline - now == timedelta(seconds=600)
    hit.refresh_from_db()
    assert (hit.pending, hit.available, hit.state) == (1, 0, "Unassignable")


def test_accepting_the_same_hit_again_gives_it_back(hit: Hit, hit_type: HitType, worker: Any, now: datetime) -> None:
    held = assignments.accept(hit_type, worker, now, hit)
    assert assignments.accept(hit_type, worker, now + timedelta(seconds=9), hit).pk == held.pk


def test_a_worker_gets_each_hit_once(make_hit: Any, hit_type: HitType, worker: Any, now: datetime) -> None:
    made = {make_hit(hit_type, max_assignments=2).pk for _ in range(3)}
    taken = set()
    for _ in range(3):
        held = assignments.accept(hit_type, worker, now)
        assignments.submit(held.assignment_id, ANSWER, now)
        taken.add(held.hit_id)
    assert taken == made
    with pytest.raises(NoHitsAvailable):
        assignments.accept(hit_type, worker, now)


def test_a_returned_hit_comes_last_and_the_newest_return_after_it(
    make_hit: Any, hit_type: HitType, worker: Any, now: datetime
) -> None:
    for _ in range(3):
        make_hit(hit_type)
    order = []
    for step in range(5):
        held = assignments.accept(hit_type, worker, now + timedelta(seconds=step))
        assignments.give_back(held, worker, now + timedelta(seconds=step))
        order.append(held.hit_id)
    assert len(set(order[:3])) == 3
    assert order[3:] == order[:2]


def test_what_others_gave_back_does_not_change_the_order(
    make_hit: Any, hit_type: HitType, worker: Any, make_worker: Any, now: datetime
) -> None:
    first, second = make_hit(hit_type), make_hit(hit_type)
    later = [now + timedelta(seconds=step) for step in range(3)]
    for who, hit, moment in zip([worker, worker, make_worker("other")], [first, second, first], later, strict=True):
        assignments.give_back(assignments.accept(hit_type, who, moment, hit), who, moment)
    assert assignments.accept(hit_type, worker, later[-1]).hit_id == first.pk


def test_work_goes_on_behind_the_last_hit_and_comes_back_to_what_was_left(
    make_hit: Any, hit_type: HitType, worker: Any, now: datetime
) -> None:
    first, second, third = (make_hit(hit_type) for _ in range(3))
    taken = [assignments.accept(hit_type, worker, now, hit).hit_id for hit in (second, None, None)]
    assert taken == [second.pk, third.pk, first.pk]


def test_a_place_whose_time_ran_out_goes_to_whoever_asks_next(
    hit: Hit, hit_type: HitType, worker: Any, make_worker: Any, now: datetime
) -> None:
    held = assignments.accept(hit_type, worker, now)
    assert assignments.accept(hit_type, make_worker("other"), held.deadline + timedelta(seconds=1)).hit_id == hit.pk


def test_a_hit_behind_the_last_one_is_missed_by_nobody(
    make_hit: Any, hit_type: HitType, worker: Any, make_worker: Any, now: datetime
) -> None:
    first, second = make_hit(hit_type), make_hit(hit_type)
    other = assignments.accept(hit_type, make_worker("other"), now, first)
    assert assignments.accept(hit_type, worker, now).hit_id == second.pk
    assignments.give_back(other, other.worker, now)
    assert assignments.accept(hit_type, worker, now).hit_id == first.pk


def test_a_returned_slot_keeps_its_assignment_id(
    hit: Hit, make_hit: Any, hit_type: HitType, worker: Any, make_worker: Any, now: datetime
) -> None:
    first = assignments.accept(hit_type, worker, now)
    assignments.accept(hit_type, make_worker("beside"), now, make_hit(hit_type))
    assignments.give_back(first, worker, now)
    second = assignments.accept(hit_type, make_worker("other"), now)
    assert second.assignment_id == first.assignment_id and second.pk != first.pk
    with pytest.raises(AssignmentRefused, match="no longer hold"):
        assignments.submit(first.assignment_id, ANSWER, now, worker_id=worker.worker_id)
    assert assignments.submit(first.assignment_id, ANSWER, now, second.worker.worker_id).pk == second.pk


def test_time_that_ran_out_frees_the_slot(hit: Hit, hit_type: HitType, worker: Any, now: datetime) -> None:
    held = assignments.accept(hit_type, worker, now)
    late = held.deadline + timedelta(seconds=1)
    with pytest.raises(AssignmentRefused, match="run out"):
        assignments.submit(held.assignment_id, ANSWER, late)
    assert assignments.sweep(late) == 1
    held.refresh_from_db()
    hit.refresh_from_db()
    assert (held.status, hit.state, hit.available) == ("Abandoned", "Assignable", 1)


def test_after_expiry_who_accepted_may_still_submit(hit: Hit, hit_type: HitType, worker: Any, now: datetime) -> None:
    held = assignments.accept(hit_type, worker, now)
    hits.set_expiration(hit.requester, hit.hit_id, now, now)
    later = now + timedelta(seconds=60)
    assert assignments.submit(held.assignment_id, ANSWER, later).status == "Submitted"


def test_ending_a_hit_that_is_over_leaves_its_end_where_it_was(hit: Hit) -> None:
    over = hit.expires_at
    hits.set_expiration(hit.requester, hit.hit_id, over - timedelta(days=1), over + timedelta(days=1))
    hit.refresh_from_db()
    assert hit.expires_at == over


def test_an_expired_hit_is_not_offered_again(hit: Hit, hit_type: HitType, worker: Any, now: datetime) -> None:
    held = assignments.accept(hit_type, worker, now)
    after = hit.expires_at
    Assignment.objects.filter(pk=held.pk).update(deadline=after + timedelta(hours=1))
    assignments.give_back(held, worker, after)
    with pytest.raises(NoHitsAvailable):
        assignments.accept(hit_type, worker, after)
    hit.refresh_from_db()
    assert hit.state == "Reviewable"


@pytest.mark.parametrize(
    ("assignment_id", "refusal", "words"),
    [
        ("ASSIGNMENT_ID_NOT_AVAILABLE", AssignmentRefused, "preview"),
        ("3NONE", DoesNotExist, "does not exist"),
    ],
)
def test_an_answer_needs_an_assignment(db: None, assignment_id: str, refusal: Any, words: str, now: datetime) -> None:
    with pytest.raises(refusal, match=words):
        assignments.submit(assignment_id, ANSWER, now)


def test_an_answer_needs_a_field_beside_the_id_of_its_assignment(
    hit: Hit, hit_type: HitType, worker: Any, now: datetime
) -> None:
    held = assignments.accept(hit_type, worker, now)
    with pytest.raises(AssignmentRefused, match="at least one field"):
        assignments.submit(held.assignment_id, {"assignmentId": ["x"], "turkSubmitTo": ["y"]}, now)


def test_an_answer_is_taken_once(hit: Hit, hit_type: HitType, worker: Any, now: datetime) -> None:
    held = assignments.accept(hit_type, worker, now)
    assignments.submit(held.assignment_id, ANSWER, now)
    with pytest.raises(AssignmentRefused, match="already been submitted"):
        assignments.submit(held.assignment_id, ANSWER, now)


def test_nobody_submits_or_returns_for_another(
    hit: Hit, hit_type: HitType, worker: Any, make_worker: Any, now: datetime
) -> None:
    held = assignments.accept(hit_type, worker, now)
    mallory = make_worker("mallory")
    with refused("AssignmentDoesNotExist"):
        assignments.submit(held.assignment_id, ANSWER, now, worker_id=mallory.worker_id)
    with refused("AssignmentDoesNotExist"):
        assignments.give_back(held, mallory, now)


def test_a_delay_of_zero_approves_at_once(make_hit_type: Any, make_hit: Any, worker: Any, now: datetime) -> None:
    kind = make_hit_type(auto_approval_delay_seconds=0)
    make_hit(kind)
    done = assignments.submit(assignments.accept(kind, worker, now).assignment_id, ANSWER, now)
    assert (done.status, done.approved_at) == ("Approved", now)


def test_time_approves_what_nobody_judged(hit: Hit, hit_type: HitType, worker: Any, now: datetime) -> None:
    done = assignments.submit(assignments.accept(hit_type, worker, now).assignment_id, ANSWER, now)
    due = now + timedelta(seconds=3600)
    assert assignments.sweep(due - timedelta(seconds=1)) == 0
    assert assignments.sweep(due + timedelta(minutes=5)) > 0
    done.refresh_from_db()
    assert (done.status, done.approved_at) == ("Approved", due)


def test_a_rejection_is_undone_for_thirty_days(hit: Hit, hit_type: HitType, worker: Any, now: datetime) -> None:
    done = assignments.submit(assignments.accept(hit_type, worker, now).assignment_id, ANSWER, now)
    assignments.reject(hit.requester, done.assignment_id, now, "blank")
    too_late = now + timedelta(days=30, seconds=1)
    with refused("InvalidAssignmentState"):
        assignments.approve(hit.requester, done.assignment_id, too_late, override=True)
    undone = assignments.approve(hit.requester, done.assignment_id, now + timedelta(days=30), override=True)
    worker.refresh_from_db()
    assert (undone.status, undone.rejected_at) == ("Approved", None)
    assert (worker.approved_count, worker.rejected_count) == (1, 0)


def test_a_rejection_on_a_deleted_hit_stays(hit: Hit, hit_type: HitType, worker: Any, now: datetime) -> None:
    done = assignments.submit(assignments.accept(hit_type, worker, now).assignment_id, ANSWER, now)
    assignments.reject(hit.requester, done.assignment_id, now, "blank")
    hits.dispose(hit.requester, hit.hit_id, now)
    with refused("InvalidAssignmentState"):
        assignments.approve(hit.requester, done.assignment_id, now, override=True)


def test_an_answer_is_judged_once_and_by_its_own_requester(
    hit: Hit, hit_type: HitType, worker: Any, now: datetime
) -> None:
    held = assignments.accept(hit_type, worker, now)
    with refused("InvalidAssignmentState"):
        assignments.approve(hit.requester, held.assignment_id, now)
    done = assignments.submit(held.assignment_id, ANSWER, now)
    bob = accounts.create_requester("Bob", Decimal("1.00"), now, "bob", "secret-of-bob").requester
    for judge in (assignments.approve, partial(assignments.reject, feedback="blank")):
        with refused("AssignmentDoesNotExist"):
            judge(bob, done.assignment_id, now=now)
    assignments.approve(hit.requester, done.assignment_id, now)
    for judge in (assignments.approve, partial(assignments.reject, feedback="blank")):
        with refused("InvalidAssignmentState"):
            judge(hit.requester, done.assignment_id, now=now)
    worker.refresh_from_db()
    assert (worker.approved_count, worker.rejected_count, worker.earned) == (1, 0, hit_type.reward)


def test_requirements_are_checked_on_accepting(make_hit_type: Any, make_hit: Any, worker: Any, now: datetime) -> None:
    asked = normalise(
        [{"QualificationTypeId": "00000000000000000071", "Comparator": "In", "LocaleValues": [{"Country": "US"}]}]
    )
    kind = make_hit_type(requirements=asked)
    make_hit(kind)
    with pytest.raises(DoesNotMeetRequirements) as caught:
        assignments.accept(kind, worker, now)
    assert caught.value.failing == asked
    worker.country = "US"
    assert assignments.accept(kind, worker, now).worker == worker


def test_a_forgotten_hit_is_disposed_after_120_days(hit: Hit, now: datetime) -> None:
    much_later = hit.expires_at + timedelta(days=120)
    assignments.sweep(much_later)
    assert hits.dispose_forgotten(much_later - timedelta(seconds=1)) == 0
    assert hits.dispose_forgotten(much_later) == 1
    hit.requester.refresh_from_db()
    assert hit.requester.held == 0


def test_a_token_protects_for_a_day(make_hit: Any, hit_type: HitType, now: datetime) -> None:
    first = make_hit(hit_type, token="t")
    later = now + timedelta(hours=24)
    assert make_hit(hit_type, token="t", now=later).hit_id != first.hit_id
    assert tokens.forget(later) == 0
    assert tokens.forget(later + timedelta(hours=24)) == 1


def test_a_used_token_speaks_of_its_own_call_alone(
    make_hit: Any, make_hit_type: Any, hit_type: HitType, now: datetime
) -> None:
    """Not of another requester's, nor of an extension with the same token, nor of another token."""
    bob = accounts.create_requester("Bob", Decimal("100.00"), now, "bob", "secret-of-bob").requester
    make_hit(make_hit_type(requester=bob), token="t")
    extended = make_hit(hit_type, token="u")
    hits.add_assignments(extended.requester, extended.hit_id, 1, now, token="t")
    made = make_hit(hit_type, token="t")
    with refused("HITAlreadyExists", match=made.hit_id):
        make_hit(hit_type, token="t")
