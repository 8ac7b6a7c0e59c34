"""An assignment id is passed on after a return: who gave it back still knows it, and must not answer for the next."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from marketplace.models import Assignment, Hit, HitType, Worker
from marketplace.verbs import assignments
from tests.marketplace.site.test_submit import outcome

ADDRESS = "/mturk/externalSubmit"


@pytest.fixture
def first(make_worker: Callable[..., Worker]) -> Worker:
    return make_worker("fred")


@pytest.fixture
def passed_on(hit: Hit, hit_type: HitType, worker: Worker, first: Worker, now: datetime) -> Assignment:
    """The worker's assignment, whose id the first worker had before."""
    given_back = assignments.give_back(assignments.accept(hit_type, first, now), first, now)
    assignment = assignments.accept(hit_type, worker, now)
    assert assignment.assignment_id == given_back.assignment_id
    return assignment


def fields(assignment: Assignment, **more: Any) -> dict[str, Any]:
    return {"assignmentId": assignment.assignment_id, "entity": "x & <y>", **more}


def status(assignment: Assignment) -> str:
    assignment.refresh_from_db()
    return assignment.status


def test_who_gave_it_back_cannot_answer_for_the_next(passed_on: Assignment, first: Worker) -> None:
    thief = Client()
    assert outcome(thief.post(ADDRESS, fields(passed_on))) == "whose"
    thief.force_login(first.user)
    for more in ({}, {"workerId": first.worker_id}):
        assert outcome(thief.post(ADDRESS, fields(passed_on, **more))) == "returned"
    assert status(passed_on) == "Accepted"


def test_the_worker_id_says_whose_it_is(passed_on: Assignment, worker: Worker) -> None:
    assert outcome(Client().post(ADDRESS, fields(passed_on, workerId=worker.worker_id))) == "submitted"
    assert status(passed_on) == "Submitted"


def test_so_does_the_session_from_a_page_of_ours(passed_on: Assignment, worker: Worker) -> None:
    """The page with one more step holds the whole answer; only its button brings the session along."""
    asked = Client().post(ADDRESS, fields(passed_on))
    assert (asked.status_code, asked.headers["X-Frame-Options"]) == (409, "SAMEORIGIN")
    assert 'name="entity" value="x &amp; &lt;y&gt;"' in asked.text
    own = Client(enforce_csrf_checks=True)
    own.force_login(worker.user)
    assert outcome(own.post(ADDRESS, fields(passed_on))) == "submitted"
    assert status(passed_on) == "Submitted"


def test_the_same_worker_may_take_it_again_without_a_word(
    hit: Hit, hit_type: HitType, worker: Worker, now: datetime
) -> None:
    assignments.give_back(assignments.accept(hit_type, worker, now), worker, now)
    again = assignments.accept(hit_type, worker, now)
    assert outcome(Client().post(ADDRESS, fields(again))) == "submitted"
