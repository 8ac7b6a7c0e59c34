from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from marketplace.models import Assignment, Concern, Hit, HitType, Message, Requester, Worker
from marketplace.verbs import assignments, concerns, hits
from tests.marketplace.site.operator.conftest import text_of


@pytest.fixture
def dispute(requester: Requester, worker: Worker, hit: Hit, hit_type: HitType, now: datetime) -> Concern:
    held = assignments.accept(hit_type, worker, now)
    assignments.submit(held.assignment_id, {"mood": ["<calm> & clear"], "why": ["two\nlines"]}, now)
    rejected = assignments.reject(requester, held.assignment_id, now, "Not what the text says")
    return concerns.dispute(worker, rejected, "The third line says it", now)


@pytest.fixture
def report(worker: Worker, hit: Hit, now: datetime) -> Concern:
    return concerns.report(worker, hit, "broken", "Nothing loads", now)


def page(concern: Concern) -> str:
    return f"/operator/concerns/{concern.pk}/"


def test_the_page_shows_answer_feedback_and_words_in_full(desk: Client, dispute: Concern) -> None:
    said = text_of(desk.get(page(dispute)))
    for words in ("&lt;calm&gt; &amp; clear", "two lines", "Not what the text says", "The third line says it", "$0.60"):
        assert words in said
    assert "1 open dispute" in text_of(desk.get("/operator/"))


def test_a_rejection_is_undone_after_a_second_look_and_once(
    desk: Client, dispute: Concern, requester: Requester, worker: Worker
) -> None:
    form = {"decision": "overturn", "note": "You are right."}
    question = text_of(desk.post(page(dispute), form))
    assert "walter gets $0.50" in question and "Alice is charged $0.60" in question
    worker.refresh_from_db()
    assert worker.earned == 0
    assert desk.post(page(dispute), form | {"confirmed": "yes"}).status_code == 302
    assert desk.post(page(dispute), form | {"confirmed": "yes"}).status_code in (400, 409)
    worker.refresh_from_db()
    requester.refresh_from_db()
    assert (worker.earned, worker.rejected_count, worker.approved_count) == (Decimal("0.50"), 0, 1)
    assert (requester.charged, requester.held) == (Decimal("0.60"), 0)
    message = Message.objects.get(worker=worker)
    assert message.text.startswith("You are right.") and "$0.50 is yours" in message.text


def test_an_answer_alone_changes_nothing_else(desk: Client, dispute: Concern, worker: Worker) -> None:
    assert desk.post(page(dispute), {"decision": "note", "note": ""}).status_code == 400
    desk.post(page(dispute), {"decision": "note", "note": "The requester is right."})
    dispute.refresh_from_db()
    assert dispute.resolution == "The requester is right."
    assert Assignment.objects.get().status == Assignment.Status.REJECTED
    assert "Nothing is open" in text_of(desk.get("/operator/concerns/"))
    assert "resolved" in text_of(desk.get("/operator/concerns/?state=all"))


def test_a_requester_without_money_keeps_the_concern_open(desk: Client, dispute: Concern, requester: Requester) -> None:
    Requester.objects.filter(pk=requester.pk).update(funds=0)
    refused = desk.post(page(dispute), {"decision": "overturn", "note": "Yes.", "confirmed": "yes"})
    assert refused.status_code == 409
    assert "cannot pay" in text_of(refused)
    dispute.refresh_from_db()
    assert dispute.resolved_at is None
    assert not Message.objects.exists()


def test_a_rejection_that_is_final_is_not_offered_for_undoing(desk: Client, dispute: Concern, now: datetime) -> None:
    Assignment.objects.update(submitted_at=now - timedelta(days=31))
    assert "Undo the rejection" not in text_of(desk.get(page(dispute)))
    assert desk.post(page(dispute), {"decision": "overturn", "note": "x", "confirmed": "yes"}).status_code == 400


def test_a_reported_hit_is_taken_down(
    desk: Client, report: Concern, hit: Hit, hit_type: HitType, make_worker: Callable[..., Any], now: datetime
) -> None:
    form = {"decision": "take_down", "note": "Thank you."}
    assert "ends now" in text_of(desk.post(page(report), form))
    desk.post(page(report), form | {"confirmed": "yes"})
    hit.refresh_from_db()
    assert hit.expires_at <= now + timedelta(minutes=1)
    assert hit.status(now + timedelta(minutes=1)) == "Reviewable"
    assert hits.find(hit.requester, hit.hit_id).disposed_at is None
