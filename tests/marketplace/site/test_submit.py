from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from marketplace.models import Assignment, Hit, HitType, Worker
from marketplace.verbs import assignments

Status = Assignment.Status


@pytest.fixture
def frame(db: None) -> Client:
    """The task frame: another site's page, so without any cookie of ours, and with CSRF checks on."""
    return Client(enforce_csrf_checks=True)


def submit(frame: Client, assignment: Assignment | str, **fields: Any) -> Any:
    assignment_id = assignment if isinstance(assignment, str) else assignment.assignment_id
    return frame.post("/mturk/externalSubmit", {"assignmentId": assignment_id} | fields)


def outcome(answer: Any) -> str:
    return answer.text.split('data-outcome="')[1].split('"')[0]


def test_an_answer_arrives_without_cookie_and_token(frame: Client, held: Assignment) -> None:
    answer = submit(frame, held, entity="Calypso", extra=["a", "b"], hitId="dropped")
    held.refresh_from_db()
    assert (answer.status_code, outcome(answer), held.status) == (200, "submitted", Status.SUBMITTED)
    assert "<FreeText>Calypso</FreeText>" in held.answer
    assert "<FreeText>a|b</FreeText>" in held.answer
    assert "dropped" not in held.answer
    assert not answer.cookies


def test_the_answer_page_can_be_shown_in_the_frame_and_links_on(frame: Client, held: Assignment) -> None:
    answer = submit(frame, held, entity="x")
    assert f'rel="next" target="_top" href="/mturk/work/{held.pk}/after/"' in answer.text
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
    assert "marketplace/submitted.js" in answer.text


def test_the_id_may_stand_in_the_address(frame: Client, held: Assignment) -> None:
    answer = frame.post(f"/mturk/externalSubmit?assignmentId={held.assignment_id}", {"entity": "x"})
    assert outcome(answer) == "submitted"


def test_an_answer_that_approves_itself_says_so(
    frame: Client, worker: Worker, make_hit_type: Callable[..., HitType], make_hit: Callable[..., Hit], now: datetime
) -> None:
    kind = make_hit_type(auto_approval_delay_seconds=0)
    make_hit(kind)
    answer = submit(frame, assignments.accept(kind, worker, now), entity="x")
    assert "$0.50 is yours" in answer.text


def test_a_second_answer_changes_nothing_and_goes_on_all_the_same(frame: Client, held: Assignment) -> None:
    submit(frame, held, entity="first")
    again = submit(frame, held, entity="second")
    held.refresh_from_db()
    assert (again.status_code, outcome(again)) == (409, "twice")
    assert "first" in held.answer and "second" not in held.answer
    assert "The first answer is kept" in again.text
    assert 'rel="next"' in again.text


def test_a_preview_cannot_be_submitted(frame: Client, hit: Hit) -> None:
    answer = submit(frame, "ASSIGNMENT_ID_NOT_AVAILABLE", entity="x")
    assert (answer.status_code, outcome(answer)) == (400, "preview")
    assert "Press Accept" in answer.text


@pytest.mark.parametrize("assignment_id", ["", "3NONE"])
def test_an_unknown_assignment_is_refused(frame: Client, held: Assignment, assignment_id: str) -> None:
    answer = submit(frame, assignment_id, entity="x")
    assert (answer.status_code, outcome(answer)) == (404, "unknown")
    assert "could not be kept" in answer.text


def test_an_answer_in_somebody_elses_name_is_refused(frame: Client, held: Assignment, other_worker: Worker) -> None:
    assert outcome(submit(frame, held, entity="x", workerId=other_worker.worker_id)) == "unknown"
    held.refresh_from_db()
    assert held.status == Status.ACCEPTED
    assert outcome(submit(frame, held, entity="x", workerId=held.worker.worker_id)) == "submitted"


@pytest.mark.parametrize("swept", [False, True])
def test_an_answer_after_the_deadline_is_refused(frame: Client, held: Assignment, now: datetime, swept: bool) -> None:
    Assignment.objects.filter(pk=held.pk).update(deadline=now - timedelta(seconds=1))
    if swept:
        assignments.sweep(now)
    answer = submit(frame, held, entity="x")
    held.refresh_from_db()
    assert (answer.status_code, outcome(answer), held.answer) == (409, "expired", "")
    assert "does not count against you" in answer.text


def test_an_answer_after_a_return_is_refused(frame: Client, held: Assignment, worker: Worker, now: datetime) -> None:
    assignments.give_back(held, worker, now)
    answer = submit(frame, held, entity="x")
    assert (answer.status_code, outcome(answer)) == (409, "returned")


def test_an_answer_without_a_field_is_refused_and_the_hit_stays(frame: Client, held: Assignment) -> None:
    answer = submit(frame, held, hitId="x", workerId=held.worker.worker_id)
    held.refresh_from_db()
    assert (answer.status_code, outcome(answer), held.status) == (400, "empty", Status.ACCEPTED)
    assert f'href="/mturk/work/{held.pk}/"' in answer.text


def test_who_accepted_before_the_hit_expired_may_still_submit(frame: Client, held: Assignment, now: datetime) -> None:
    Hit.objects.filter(pk=held.hit_id).update(expires_at=now - timedelta(seconds=1))
    assert outcome(submit(frame, held, entity="x")) == "submitted"


def test_an_answer_beyond_all_measure_is_refused(frame: Client, held: Assignment) -> None:
    answer = submit(frame, held, entity="x" * 3_000_000)
    held.refresh_from_db()
    assert (answer.status_code, outcome(answer), held.status) == (413, "too_big", Status.ACCEPTED)


def test_a_get_is_no_answer(frame: Client, held: Assignment) -> None:
    answer = frame.get(f"/mturk/externalSubmit?assignmentId={held.assignment_id}&entity=x")
    held.refresh_from_db()
    assert (answer.status_code, held.status) == (405, Status.ACCEPTED)


def test_every_refusal_says_what_was_kept_and_what_to_press(frame: Client, held: Assignment) -> None:
    refusals = [submit(frame, held), submit(frame, "3NONE", a="x"), submit(frame, "ASSIGNMENT_ID_NOT_AVAILABLE", a="x")]
    for answer in refusals:
        assert "kept" in answer.text
        assert 'class="button primary"' in answer.text
