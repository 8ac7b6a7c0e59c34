import logging
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from marketplace.models import Assignment, Hit, HitType, Worker
from marketplace.site.request_lines import WithoutQuery
from marketplace.verbs import assignments

pytestmark = pytest.mark.on_postgresql

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


def test_the_answer_page_can_be_shown_in_any_frame_and_links_on(frame: Client, held: Assignment) -> None:
    answer = submit(frame, held, entity="x")
    assert f'rel="next" target="_top" href="/mturk/work/{held.pk}/after/"' in answer.text
    assert "X-Frame-Options" not in answer.headers
    assert "frame-ancestors" not in answer.headers["Content-Security-Policy"]
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


def test_another_answer_is_called_not_recorded_and_nothing_goes_on_by_itself(frame: Client, held: Assignment) -> None:
    submit(frame, held, entity="first")
    again = submit(frame, held, entity="second")
    held.refresh_from_db()
    assert (again.status_code, outcome(again)) == (409, "not-recorded")
    assert "first" in held.answer and "second" not in held.answer
    assert "This answer was not recorded" in again.text and "The first answer is kept" in again.text
    assert "data-moves-on" not in again.text and f'href="/mturk/work/{held.pk}/after/"' in again.text


def test_the_same_answer_once_more_is_known_and_the_worker_goes_on(frame: Client, held: Assignment) -> None:
    submit(frame, held, entity="first", seconds="7")
    again = submit(frame, held, entity="first", seconds="7")
    assert (again.status_code, outcome(again)) == (409, "repeated")
    assert "This very answer arrived before" in again.text and "data-moves-on" in again.text


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
    answer = submit(frame, held)
    held.refresh_from_db()
    assert (answer.status_code, outcome(answer), held.status) == (400, "empty", Status.ACCEPTED)
    assert f'href="/mturk/work/{held.pk}/"' in answer.text


def test_a_form_that_only_names_its_hit_and_worker_is_taken(frame: Client, held: Assignment) -> None:
    """As psiTurk and Dallinger send it: the answers themselves are on the requester's own server."""
    answer = submit(frame, held, hitId=held.hit.hit_id, workerId=held.worker.worker_id)
    held.refresh_from_db()
    assert (answer.status_code, outcome(answer), held.status) == (200, "submitted", Status.SUBMITTED)
    told = re.findall("<QuestionIdentifier>(.*?)</QuestionIdentifier><FreeText>(.*?)<", held.answer)
    assert told == [("hitId", held.hit.hit_id), ("workerId", held.worker.worker_id)]


def test_who_accepted_before_the_hit_expired_may_still_submit(frame: Client, held: Assignment, now: datetime) -> None:
    Hit.objects.filter(pk=held.hit_id).update(expires_at=now - timedelta(seconds=1))
    assert outcome(submit(frame, held, entity="x")) == "submitted"


def test_an_answer_beyond_all_measure_is_refused(frame: Client, held: Assignment) -> None:
    answer = submit(frame, held, entity="x" * 3_000_000)
    held.refresh_from_db()
    assert (answer.status_code, outcome(answer), held.status) == (413, "too_big", Status.ACCEPTED)


def in_address(assignment: Assignment, **fields: str) -> str:
    return "/mturk/externalSubmit?" + urlencode({"assignmentId": assignment.assignment_id} | fields)


def test_an_answer_may_stand_in_the_address(frame: Client, held: Assignment) -> None:
    answer = frame.get(in_address(held, entity="Calypso & <b>", workerId=held.worker.worker_id))
    held.refresh_from_db()
    assert (answer.status_code, outcome(answer), held.status) == (200, "submitted", Status.SUBMITTED)
    assert "<FreeText>Calypso &amp; &lt;b&gt;</FreeText>" in held.answer


def test_fields_of_the_address_and_of_the_form_are_taken_together(frame: Client, held: Assignment) -> None:
    frame.post(in_address(held, entity="a", group="1", workerId="A0THER"), {"entity": "b", "seen": "yes"})
    held.refresh_from_db()
    assert held.status == Status.ACCEPTED  # in another worker's name
    frame.post(in_address(held, entity="a", group="1"), {"entity": "b", "seen": "yes"})
    held.refresh_from_db()
    answered = re.findall("<QuestionIdentifier>(.*?)</QuestionIdentifier><FreeText>(.*?)<", held.answer)
    assert answered == [("entity", "a|b"), ("group", "1"), ("seen", "yes")]


def test_an_address_in_somebody_elses_name_is_refused(frame: Client, held: Assignment, other_worker: Worker) -> None:
    assert outcome(frame.get(in_address(held, entity="x", workerId=other_worker.worker_id))) == "unknown"
    assert outcome(frame.get(in_address(held))) == "empty"
    assert outcome(frame.get("/mturk/externalSubmit")) == "unknown"
    held.refresh_from_db()
    assert held.status == Status.ACCEPTED


@pytest.mark.parametrize(
    "header",
    [{"Sec-Purpose": "prefetch;prerender"}, {"Purpose": "prefetch"}, {"X-Moz": "prefetch"}, {"X-Purpose": "preview"}],
)
def test_what_is_fetched_in_advance_sends_nothing(frame: Client, held: Assignment, header: dict[str, str]) -> None:
    answer = frame.get(in_address(held, entity="x"), headers=header)
    held.refresh_from_db()
    assert (answer.status_code, outcome(answer), held.status) == (503, "in_advance", Status.ACCEPTED)


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "DELETE"])
def test_other_methods_send_nothing(frame: Client, held: Assignment, method: str) -> None:
    answer = frame.generic(method, in_address(held, entity="x"))
    held.refresh_from_db()
    assert (answer.status_code, answer.headers["Allow"], held.status) == (405, "GET, POST", Status.ACCEPTED)


def test_no_response_is_kept_or_named_as_a_referrer(frame: Client, held: Assignment) -> None:
    address = in_address(held, entity="x")
    for answer in (frame.head(address), frame.get(address + "&a=" * 2000), frame.get(address), frame.post(address)):
        assert "no-store" in answer.headers["Cache-Control"]
        assert answer.headers["Referrer-Policy"] == "no-referrer"


def test_an_address_with_too_many_fields_is_refused(frame: Client, held: Assignment) -> None:
    many = {f"f{number}": "x" for number in range(10_500)}
    assert outcome(frame.get(in_address(held) + "&a=1" * 20_001)) == "too_big"
    assert outcome(frame.post(in_address(held, **many), {f"b{name}": "x" for name in many})) == "too_big"
    held.refresh_from_db()
    assert held.status == Status.ACCEPTED


def test_a_link_does_not_answer_by_the_session_of_whoever_opens_it(
    client: Client, held: Assignment, worker: Worker, other_worker: Worker, hit_type: HitType, now: datetime
) -> None:
    """Who gave an id back knows it, and may lead its next holder to a link with an answer of their own."""
    assignments.give_back(held, worker, now)
    shared = assignments.accept(hit_type, other_worker, now)
    assert shared.assignment_id == held.assignment_id
    assignments.give_back(shared, other_worker, now)
    mine = assignments.accept(hit_type, worker, now)
    asked = client.get(in_address(mine, entity="theirs"))
    mine.refresh_from_db()
    assert (asked.status_code, outcome(asked), mine.status) == (409, "whose", Status.ACCEPTED)
    assert asked.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in asked.headers["Content-Security-Policy"]
    assert outcome(client.post("/mturk/externalSubmit", {"assignmentId": mine.assignment_id, "a": "x"})) == "submitted"


def test_no_log_holds_what_stands_in_the_address(frame: Client, held: Assignment, caplog: Any) -> None:
    with caplog.at_level(logging.DEBUG):
        frame.get(in_address(held, entity="s3cret"))
        frame.get(in_address(held, entity="another-s3cret"))
        frame.put(in_address(held, entity="s3cret"))
    assert "externalSubmit" in caplog.text and "s3cret" not in caplog.text
    args = (f"GET {in_address(held, entity='s3cret')} HTTP/1.1", "200", "9")
    line = logging.LogRecord("django.server", logging.INFO, "", 1, '"%s" %s %s', args, None)
    assert WithoutQuery().filter(line)
    assert line.getMessage() == '"GET /mturk/externalSubmit HTTP/1.1" 200 9'


def test_every_refusal_says_what_was_kept_and_what_to_press(frame: Client, held: Assignment) -> None:
    refusals = [submit(frame, held), submit(frame, "3NONE", a="x"), submit(frame, "ASSIGNMENT_ID_NOT_AVAILABLE", a="x")]
    for answer in refusals:
        assert "kept" in answer.text
        assert 'class="button primary"' in answer.text
