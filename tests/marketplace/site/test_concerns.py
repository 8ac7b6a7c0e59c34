"""Reports of HITs and disputes of rejections, from the worker's side."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from marketplace.models import Assignment, Concern, Hit, HitType, Requester, Worker
from marketplace.rules.qualifications import LOCALE
from marketplace.verbs import assignments, concerns, hits
from tests.marketplace.site.conftest import requirement


def report(client: Client, hit: Hit, reason: str = "personal", text: str = "It wants my phone number") -> Any:
    return client.post("/mturk/report", {"hitId": hit.hit_id, "reason": reason, "text": text})


@pytest.fixture
def rejected(requester: Requester, held: Assignment, now: datetime) -> Assignment:
    """An answer of Walter's that Alice has rejected."""
    assignments.submit(held.assignment_id, {"answer": ["x"]}, now)
    return assignments.reject(requester, held.assignment_id, now, "The text was not read")


def test_a_report_is_kept_once_and_marks_the_hit(client: Client, hit: Hit, worker: Worker) -> None:
    page = client.get(f"/mturk/report?hitId={hit.hit_id}").text
    assert "It asks for personal data" in page
    assert f'href="/mturk/preview?groupId={hit.hit_type.hit_group_id}">Cancel' in page
    assert report(client, hit).status_code == 302
    concern = Concern.objects.get()
    assert (concern.kind, concern.reason, concern.worker, concern.assignment) == ("report", "personal", worker, None)
    hit.refresh_from_db()
    assert hit.review_status == "MarkedForReview"
    assert "It wants my phone number" in client.get(f"/mturk/report?hitId={hit.hit_id}").text
    assert report(client, hit).status_code == 400
    assert Concern.objects.count() == 1


def test_each_worker_reports_for_oneself(client: Client, other_client: Client, hit: Hit) -> None:
    report(client, hit)
    assert "phone number" not in other_client.get(f"/mturk/report?hitId={hit.hit_id}").text
    assert report(other_client, hit).status_code == 302


@pytest.mark.parametrize(
    ("reason", "text", "says"),
    [
        ("", "x", "Choose what is wrong."),
        ("nonsense", "x", "Choose one of the reasons."),
        ("other", " ", "in a few words"),
        ("broken", "x" * 2001, "at most 2000 characters"),
        ("broken", "\0", "Null characters"),
    ],
)
def test_it_says_what_a_report_lacks(client: Client, hit: Hit, reason: str, text: str, says: str) -> None:
    answer = report(client, hit, reason, text)
    assert answer.status_code == 400
    assert says in answer.text
    assert not Concern.objects.exists()


def test_a_hit_that_hides_can_be_reported_only_by_who_held_it(
    client: Client,
    worker: Worker,
    make_hit_type: Callable[..., HitType],
    make_hit: Callable[..., Hit],
    now: datetime,
) -> None:
    in_canada = requirement("EqualTo", "DiscoverPreviewAndAccept", LOCALE, LocaleValues=[{"Country": "CA"}])
    kind = make_hit_type(requirements=[in_canada])
    hit = make_hit(kind)
    assert report(client, hit).status_code == 404
    assert client.get("/mturk/report?hitId=3NONE").status_code == 404
    worker.country = "CA"
    assignments.accept(kind, worker, now)
    assert report(client, hit).status_code == 302


def test_a_rejection_is_disputed_once_and_the_answer_is_shown(
    client: Client, rejected: Assignment, now: datetime
) -> None:
    address = f"/worker/dispute/{rejected.pk}/"
    for page in ("/worker/", f"/mturk/work/{rejected.pk}/after/"):
        assert f'href="{address}"' in client.get(page).text
    assert "The text was not read" in client.get(address).text
    assert client.post(address, {"text": "I read it twice"}).headers["Location"] == address
    assert client.post(address, {"text": "And again"}).status_code == 400
    (concern,) = Concern.objects.all()
    assert (concern.kind, concern.assignment, concern.text) == ("dispute", rejected, "I read it twice")
    assert "Their answer will stand here" in client.get(address).text
    assert concerns.resolve(concern, "You are right; the rejection is undone", now)
    assert not concerns.resolve(concern, "Second thoughts", now)
    assert "the rejection is undone" in client.get(address).text
    assert "Dispute answered" in client.get("/worker/").text


def test_an_empty_dispute_is_not_sent(client: Client, rejected: Assignment) -> None:
    answer = client.post(f"/worker/dispute/{rejected.pk}/", {"text": "  "})
    assert answer.status_code == 400
    assert "Say in a few words" in answer.text


def test_nobody_disputes_for_another(other_client: Client, rejected: Assignment) -> None:
    address = f"/worker/dispute/{rejected.pk}/"
    assert other_client.get(address).status_code == 404
    assert other_client.post(address, {"text": "x"}).status_code == 404


@pytest.mark.parametrize("why", ["late", "deleted", "approved"])
def test_a_final_decision_cannot_be_disputed(
    client: Client, requester: Requester, rejected: Assignment, now: datetime, why: str
) -> None:
    if why == "late":
        Assignment.objects.update(submitted_at=now - timedelta(days=30, seconds=1))
    if why == "deleted":
        hits.dispose(requester, rejected.hit.hit_id, now)
    if why == "approved":
        assignments.approve(requester, rejected.assignment_id, now, override=True)
    address = f"/worker/dispute/{rejected.pk}/"
    assert address not in client.get("/worker/").text
    assert client.post(address, {"text": "x"}).status_code == 400
    assert "<textarea" not in client.get(address).text
    assert not Concern.objects.exists()
