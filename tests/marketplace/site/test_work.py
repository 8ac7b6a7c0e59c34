from collections.abc import Callable
from datetime import datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from marketplace.models import Assignment, Hit, HitType, Requester, Worker
from marketplace.rules.qualifications import LOCALE
from marketplace.verbs import assignments, qualifications
from tests.marketplace.site.conftest import requirement

Status = Assignment.Status


def frame_of(page: str) -> dict[str, list[str]]:
    """What the task page is told, from the address of its frame."""
    source = unescape(page.split('<iframe class="task"')[1].split('src="')[1].split('"')[0])
    return parse_qs(urlsplit(source).query)


def start(client: Client, hit_type: HitType, **more: str) -> Any:
    return client.post("/mturk/accept", {"groupId": hit_type.hit_group_id} | more)


def overdue(assignment: Assignment, now: datetime) -> Assignment:
    Assignment.objects.filter(pk=assignment.pk).update(deadline=now - timedelta(seconds=1))
    return assignment


def test_accepting_leads_to_the_task(client: Client, hit: Hit, hit_type: HitType, worker: Worker) -> None:
    answer = start(client, hit_type)
    held = Assignment.objects.get()
    assert answer.headers["Location"] == f"/mturk/work/{held.pk}/"
    told = frame_of(client.get(answer.headers["Location"]).text)
    assert told == {
        "item": ["1"],
        "v": ["2"],
        "assignmentId": [held.assignment_id],
        "hitId": [hit.hit_id],
        "workerId": [worker.worker_id],
        "turkSubmitTo": ["http://127.0.0.1:8001"],
    }


def test_loading_the_page_again_keeps_the_assignment(client: Client, held: Assignment) -> None:
    pages = [frame_of(client.get(f"/mturk/work/{held.pk}/").text) for _ in range(2)]
    assert pages[0] == pages[1]
    assert Assignment.objects.count() == 1


def test_the_page_tells_reward_title_and_time_without_a_script(client: Client, held: Assignment) -> None:
    page = client.get(f"/mturk/work/{held.pk}/").text
    for part in (
        "$0.50",
        "Pick the entity",
        "submit by",
        f'datetime="{held.deadline:%Y-%m-%dT%H:%M}',
        'data-warn-at="120"',
    ):
        assert part in page


@pytest.mark.parametrize("path", ["/mturk/work/{}/", "/mturk/work/{}/after/"])
def test_somebody_elses_assignment_does_not_exist(other_client: Client, held: Assignment, path: str) -> None:
    assert other_client.get(path.format(held.pk)).status_code == 404


def test_nobody_can_return_somebody_elses_hit(other_client: Client, held: Assignment) -> None:
    assert other_client.post(f"/mturk/work/{held.pk}/return/").status_code == 404
    held.refresh_from_db()
    assert held.status == Status.ACCEPTED


def test_returning_frees_the_slot_and_the_id_goes_to_the_next_worker(
    client: Client, other_client: Client, held: Assignment, hit_type: HitType
) -> None:
    assert start(other_client, hit_type).headers["Location"].startswith("/mturk/finished")
    page = client.post(f"/mturk/work/{held.pk}/return/", follow=True).text
    assert "It does not count against you" in page
    assert start(other_client, hit_type).headers["Location"].startswith("/mturk/work/")
    assert Assignment.objects.get(status=Status.ACCEPTED).assignment_id == held.assignment_id


def test_a_return_can_be_undone(client: Client, held: Assignment, hit: Hit, hit_type: HitType) -> None:
    page = client.post(f"/mturk/work/{held.pk}/return/", follow=True).text
    assert "Undo: take it back" in page
    start(client, hit_type, hitId=hit.hit_id)
    assert Assignment.objects.get(status=Status.ACCEPTED).hit == hit


def test_a_return_cannot_be_undone_when_somebody_else_was_faster(
    client: Client, other_client: Client, held: Assignment, hit: Hit, hit_type: HitType
) -> None:
    client.post(f"/mturk/work/{held.pk}/return/")
    start(other_client, hit_type)
    assert "Undo" not in client.get(f"/mturk/work/{held.pk}/after/").text
    assert start(client, hit_type, hitId=hit.hit_id).headers["Location"].startswith("/mturk/finished")


def test_returning_twice_is_harmless(client: Client, held: Assignment) -> None:
    for _ in range(2):
        assert "Returned" in client.post(f"/mturk/work/{held.pk}/return/", follow=True).text


def test_when_time_is_over_the_page_says_so_and_the_hit_is_free(
    client: Client, other_client: Client, held: Assignment, hit_type: HitType, now: datetime
) -> None:
    page = client.get(f"/mturk/work/{overdue(held, now).pk}/", follow=True).text
    assert "Time ran out" in page
    assert "does not count against you" in page
    held.refresh_from_db()
    assert held.status == Status.ABANDONED
    assert start(other_client, hit_type).headers["Location"].startswith("/mturk/work/")


def test_the_page_after_a_submit_offers_the_next_hit(
    client: Client, worker: Worker, hit_type: HitType, make_hit: Callable[..., Hit], answer_hits: Callable[..., Any]
) -> None:
    make_hit(hit_type), make_hit(hit_type)
    (done,) = answer_hits(hit_type, worker, 1)
    page = client.get(f"/mturk/work/{done.pk}/", follow=True).text
    assert "$0.50 waits for the requester" in page
    assert "1 HIT left for you" in page
    assert "data-next" in page


def test_the_page_after_an_open_assignment_is_the_task(client: Client, held: Assignment) -> None:
    assert client.get(f"/mturk/work/{held.pk}/after/").headers["Location"] == f"/mturk/work/{held.pk}/"


def test_after_the_last_hit_it_says_so_calmly(
    client: Client, worker: Worker, hit: Hit, hit_type: HitType, answer_hits: Any
) -> None:
    answer_hits(hit_type, worker, 1)
    page = client.post("/mturk/accept", {"groupId": hit_type.hit_group_id}, follow=True)
    assert page.status_code == 200
    assert "That was the last one" in page.text
    assert 'data-state="finished"' in page.text


@pytest.mark.parametrize(
    ("delay", "said", "unsaid"),
    [(0, "are approved at once", "the requester looks at it next"), (60, "the requester looks at it next", "at once")],
)
def test_after_the_last_hit_it_says_who_approves_the_answers(
    client: Client,
    worker: Worker,
    make_hit_type: Callable[..., HitType],
    make_hit: Callable[..., Hit],
    answer_hits: Any,
    delay: int,
    said: str,
    unsaid: str,
) -> None:
    kind = make_hit_type(auto_approval_delay_seconds=delay)
    make_hit(kind)
    (done,) = answer_hits(kind, worker, 1)
    assert done.status == (Status.SUBMITTED if delay else Status.APPROVED)
    page = client.get(f"/mturk/finished?groupId={kind.hit_group_id}").text
    assert said in page and unsaid not in page


def test_the_last_page_offers_new_hits_once_there_are_some(
    client: Client, hit_type: HitType, make_hit: Callable[..., Hit]
) -> None:
    make_hit(hit_type)
    assert "There is more to do" in client.get(f"/mturk/finished?groupId={hit_type.hit_group_id}").text


def test_a_refused_accept_says_what_is_missing(
    client: Client, make_hit_type: Callable[..., HitType], make_hit: Callable[..., Hit]
) -> None:
    kind = make_hit_type(requirements=[requirement("EqualTo", "Accept", LOCALE, LocaleValues=[{"Country": "CA"}])])
    make_hit(kind)
    answer = start(client, kind)
    assert answer.status_code == 403
    assert "Living in: Canada" in answer.text


def test_who_was_blocked_meanwhile_still_sees_that_the_answer_is_kept(
    client: Client,
    requester: Requester,
    worker: Worker,
    make_hit_type: Callable[..., HitType],
    make_hit: Callable[..., Hit],
    answer_hits: Callable[..., Any],
    now: datetime,
) -> None:
    block = qualifications.create_type(requester, name="Poor quality", description="Blocks", status="Active", now=now)
    unblocked = requirement("DoesNotExist", "DiscoverPreviewAndAccept", block.qualification_type_id)
    kind = make_hit_type(requirements=[unblocked])
    make_hit(kind), make_hit(kind)
    (done,) = answer_hits(kind, worker, 1)
    qualifications.grant(requester, block.qualification_type_id, worker.worker_id, now)
    page = client.post("/mturk/accept", {"groupId": kind.hit_group_id, "after": str(done.pk)}, follow=True).text
    assert "Your answer is kept" in page
    assert "Not holding: Poor quality" in page
    assert client.get(f"/mturk/finished?groupId={kind.hit_group_id}").status_code == 404


@pytest.mark.parametrize("fields", [{}, {"groupId": "3NONE"}, {"hitId": "3NONE"}])
def test_accepting_what_does_not_exist_is_not_found(client: Client, hit_type: HitType, fields: dict[str, str]) -> None:
    known = {"groupId": hit_type.hit_group_id} if "hitId" in fields else {}
    assert client.post("/mturk/accept", known | fields).status_code == 404


def test_the_switch_is_kept_in_the_session(client: Client, held: Assignment) -> None:
    address = f"/mturk/work/{held.pk}/"
    assert 'aria-checked="true"' in client.get(address).text
    answer = client.post("/mturk/auto-accept/", {"auto": "off", "assignment": held.pk})
    assert answer.headers["Location"] == address
    assert 'aria-checked="false"' in client.get(address).text


def test_the_switch_answers_a_script_without_a_page(client: Client) -> None:
    answer = client.post("/mturk/auto-accept/", {"auto": "off"}, headers={"Accept": "application/json"})
    assert answer.json() == {"auto": "off"}
    assert client.post("/mturk/auto-accept/", {"auto": "maybe"}).status_code == 400


def test_forms_need_a_token(worker: Worker, held: Assignment) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(worker.user)
    for path in ("/mturk/accept", f"/mturk/work/{held.pk}/return/", "/mturk/auto-accept/"):
        assert browser.post(path).status_code == 403


def test_the_work_page_may_frame_tasks_but_not_be_framed(client: Client, held: Assignment) -> None:
    headers = client.get(f"/mturk/work/{held.pk}/").headers
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "'self'" in headers["Content-Security-Policy"].split("frame-src")[1].split(";")[0]
    assert headers["X-Frame-Options"] == "DENY"
    assert "no-store" in headers["Cache-Control"]


def test_an_approved_and_a_rejected_answer_are_explained(
    client: Client,
    requester: Requester,
    worker: Worker,
    hit_type: HitType,
    make_hit: Callable[..., Hit],
    answer_hits: Callable[..., Any],
    now: datetime,
) -> None:
    make_hit(hit_type), make_hit(hit_type)
    good, bad = answer_hits(hit_type, worker, 2)
    assignments.approve(requester, good.assignment_id, now)
    assignments.reject(requester, bad.assignment_id, now, "Two words only <b>")
    assert "$0.50 is yours" in client.get(f"/mturk/work/{good.pk}/after/").text
    assert "Two words only &lt;b&gt;" in client.get(f"/mturk/work/{bad.pk}/after/").text
