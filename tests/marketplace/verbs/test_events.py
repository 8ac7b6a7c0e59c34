"""What is written down for whom, and that it costs nothing when nobody wants to know."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from marketplace.models import Event, Hit, HitType, Requester, Webhook
from marketplace.rules.errors import ParameterValidationError
from marketplace.verbs import assignments, events, hits
from tests.marketplace.refusals import refused
from tests.marketplace.verbs.test_concurrency import at_once

ANSWER = {"a": ["1"]}
SPECIFICATION = {
    "Destination": "https://sqs.us-east-1.amazonaws.com/1/q",
    "Transport": "SQS",
    "Version": "2014-08-15",
    "EventTypes": ["AssignmentSubmitted", "HITReviewable", "HITExpired"],
}


def told() -> list[tuple[str, str]]:
    """(transport, event) in the order in which they were written."""
    return [(row.transport, row.content["EventType"]) for row in Event.objects.order_by("pk")]


@pytest.fixture
def listening(hit_type: HitType) -> HitType:
    events.set_notification(hit_type, SPECIFICATION, None)
    hit_type.refresh_from_db()
    return hit_type


def test_only_events_that_were_asked_for_are_kept(listening: HitType, make_hit: Any, worker: Any, now: Any) -> None:
    hit = make_hit(listening)
    done = assignments.submit(assignments.accept(listening, worker, now).assignment_id, ANSWER, now)
    assert told() == [("SQS", "AssignmentSubmitted"), ("SQS", "HITReviewable")]
    content = Event.objects.earliest("pk").content
    assert (content["HITId"], content["AssignmentId"]) == (hit.hit_id, done.assignment_id)
    assert content["HITTypeId"] == listening.hit_type_id
    assert content["EventTimestamp"] == f"{now:%Y-%m-%dT%H:%M:%SZ}"


def test_an_event_goes_with_the_change_that_it_tells_of(listening: HitType, make_hit: Any, monkeypatch: Any) -> None:
    events.set_notification(listening, SPECIFICATION | {"EventTypes": ["HITCreated"]}, None)
    listening.refresh_from_db()
    monkeypatch.setattr(hits.money, "hold", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make_hit(listening)
    assert (Hit.objects.count(), Event.objects.count()) == (0, 0)


def test_a_webhook_is_told_of_everything(requester: Requester, hit_type: HitType, make_hit: Any, now: Any) -> None:
    events.set_webhook(requester, "https://lab.example.org/hook", now)
    hit_type.requester.refresh_from_db()
    hit = make_hit(hit_type)
    hits.add_assignments(requester, hit.hit_id, 1, now)
    hits.set_expiration(requester, hit.hit_id, now, now)
    hits.dispose(requester, hit.hit_id, now)
    wanted = ["HITCreated", "HITExtended", "HITExpired", "HITReviewable", "HITDisposed"]
    assert told() == [("Webhook", event) for event in wanted]


def test_a_webhook_is_told_what_becomes_of_a_place_and_its_answer(
    requester: Requester, hit_type: HitType, make_hit: Any, worker: Any, now: Any
) -> None:
    make_hit(hit_type)
    events.set_webhook(requester, "https://lab.example.org/hook", now)
    assignments.give_back(assignments.accept(hit_type, worker, now), worker, now)
    done = assignments.submit(assignments.accept(hit_type, worker, now).assignment_id, ANSWER, now)
    assignments.reject(requester, done.assignment_id, now, "blank")
    assignments.approve(requester, done.assignment_id, now, override=True)
    places = ["Accepted", "Returned", "Accepted", "Submitted", "Rejected", "Approved"]
    assert [event for _, event in told() if event.startswith("Assignment")] == [f"Assignment{each}" for each in places]


def test_hits_that_expire_together_are_told_of_once_each(
    listening: HitType, make_hit_type: Any, make_hit: Any, now: datetime
) -> None:
    for _ in range(7):
        make_hit(listening)
    quiet = make_hit(make_hit_type(title="Nobody listens"))
    after = now + timedelta(hours=2)
    while hits.settle_expired(after, limit=3):
        pass
    assert Counter(told()) == {("SQS", "HITExpired"): 7, ("SQS", "HITReviewable"): 7}
    quiet.refresh_from_db()
    assert quiet.state == "Reviewable"
    ended = {row.content["EventTimestamp"] for row in Event.objects.all() if row.content["EventType"] == "HITExpired"}
    assert ended == {f"{quiet.expires_at:%Y-%m-%dT%H:%M:%SZ}"}


def test_an_end_that_the_clock_has_not_seen_yet_is_not_lost(
    listening: HitType, requester: Requester, make_hit: Any, now: datetime
) -> None:
    hit = make_hit(listening)
    later = now + timedelta(hours=2)
    hits.set_expiration(requester, hit.hit_id, later + timedelta(hours=1), later)
    assert [event for _, event in told()] == ["HITExpired", "HITReviewable"]


@pytest.mark.django_db(transaction=True)
def test_sweeps_at_once_tell_of_each_end_once(listening: HitType, make_hit: Any, now: datetime) -> None:
    for _ in range(20):
        make_hit(listening)
    after = now + timedelta(hours=2)
    at_once([lambda: hits.settle_expired(after, limit=7) for _ in range(6)])
    while hits.settle_expired(after):
        pass
    assert Counter(told()) == {("SQS", "HITExpired"): 20, ("SQS", "HITReviewable"): 20}


def writes_of(work: Callable[[], Any]) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        work()
    return [query["sql"] for query in captured]


def test_nobody_listens_and_no_query_is_spent(
    requester: Requester, hit_type: HitType, make_hit: Any, worker: Any, now: datetime
) -> None:
    """No look at a requester, a HIT type or a webhook beyond what the verbs read anyway."""
    seen = writes_of(lambda: make_hit(hit_type))
    held: list[Any] = []
    seen += writes_of(lambda: held.append(assignments.accept(hit_type, worker, now)))
    seen += writes_of(lambda: assignments.submit(held[0].assignment_id, ANSWER, now))
    seen += writes_of(lambda: assignments.approve(requester, held[0].assignment_id, now))
    tables = ("marketplace_event", "marketplace_webhook", "marketplace_notification")
    assert [sql for sql in seen if any(table in sql for table in tables)] == []
    plain = [sql for sql in seen if sql.startswith("SELECT")]
    assert [sql for sql in plain if 'FROM "marketplace_requester"' in sql] == []
    assert [sql for sql in plain if 'FROM "marketplace_hittype"' in sql] == []


def test_settings_are_replaced_switched_off_and_on(hit_type: HitType) -> None:
    with pytest.raises(ParameterValidationError, match="Active"):
        events.set_notification(hit_type, None, None)
    with pytest.raises(ParameterValidationError, match="no notification specification"):
        events.set_notification(hit_type, None, True)
    events.set_notification(hit_type, SPECIFICATION, None)
    hit_type.refresh_from_db()
    assert hit_type.notification_active
    events.set_notification(hit_type, None, False)
    events.set_notification(hit_type, SPECIFICATION | {"EventTypes": ["HITCreated"]}, None)
    hit_type.refresh_from_db()
    assert (hit_type.notification["EventTypes"], hit_type.notification_active) == (["HITCreated"], False)
    events.set_notification(hit_type, None, True)
    hit_type.refresh_from_db()
    assert hit_type.notification_active


def test_another_address_gets_another_secret(requester: Requester, now: datetime, settings: Any) -> None:
    first = events.set_webhook(requester, "https://lab.example.org/a", now).secret
    assert events.set_webhook(requester, "https://lab.example.org/a", now).secret == first
    assert events.set_webhook(requester, "https://lab.example.org/b", now).secret != first
    settings.MARKETPLACE_ACCEPT_ANY_KEY = False
    with refused("InvalidTransportEndpoint"):
        events.set_webhook(requester, "http://127.0.0.1:9000/hook", now)
    events.stop_webhook(requester)
    requester.refresh_from_db()
    assert (requester.webhook_active, Webhook.objects.get().active) == (False, False)
