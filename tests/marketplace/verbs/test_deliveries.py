"""From the outbox to a receiver: packed, sent, tried again, given up. The receivers are real servers."""

import json
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from marketplace.models import Controls, Event, HitType, Notification, Requester
from marketplace.rules import notifications
from marketplace.verbs import assignments, deliveries, events
from tests.marketplace.transports.sinks import Hook, hook_server

pytestmark = pytest.mark.on_postgresql


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hook_server() as running:
        yield running


@pytest.fixture
def told(requester: Requester, hook: Hook, now: datetime) -> Requester:
    """Alice, whose webhook is told of everything."""
    events.set_webhook(requester, hook.url, now)
    return requester


@pytest.fixture
def happen(told: Requester, hit_type: HitType, make_hit: Any) -> Any:
    hit_type.requester = told

    def make(times: int = 1) -> None:
        for _ in range(times):
            make_hit(hit_type)

    return make


def test_what_happened_together_comes_in_one_document(happen: Any, hook: Hook, told: Requester, now: datetime) -> None:
    happen(12)
    assert deliveries.deliver(now) == 2
    first, second = (json.loads(body) for body in hook.bodies)
    assert sorted(len(document["Events"]) for document in (first, second)) == [2, 10]
    assert first["EventDocId"] != second["EventDocId"]
    assert len(first["EventDocId"]) == 40
    assert {first["CustomerId"], second["CustomerId"]} == {told.customer_id}
    assert (Event.objects.count(), Notification.objects.filter(delivered=True).count()) == (0, 2)
    assert deliveries.deliver(now) == 0


def test_it_is_tried_again_with_the_same_document_until_it_arrives(happen: Any, hook: Hook, now: datetime) -> None:
    hook.statuses = [500, 503, 200]
    happen()
    deliveries.deliver(now)
    assert deliveries.deliver(now + timedelta(seconds=1)) == 0
    deliveries.deliver(now + timedelta(seconds=2))
    deliveries.deliver(now + timedelta(seconds=7))
    row = Notification.objects.get()
    assert (row.delivered, row.attempts, row.reason) == (True, 3, "")
    assert len(set(hook.bodies)) == 1 and len(hook.bodies) == 3


def test_it_is_given_up_in_the_end_and_may_be_sent_again(happen: Any, hook: Hook, now: datetime) -> None:
    hook.statuses = [500]
    happen()
    moment = now
    for wait in (0, *notifications.RETRY_SECONDS):
        moment += timedelta(seconds=wait)
        assert deliveries.deliver(moment) == 1
    row = Notification.objects.get()
    assert (row.delivered, row.done_at, row.reason) == (False, moment, "The webhook answered 500.")
    assert deliveries.deliver(moment + timedelta(days=1)) == 0
    hook.statuses = [200]
    assert deliveries.send_again(row, moment)
    deliveries.deliver(moment)
    row.refresh_from_db()
    assert (row.delivered, row.attempts) == (True, 1)
    assert not deliveries.send_again(row, moment)


def test_what_else_waits_for_a_silent_receiver_waits_too(happen: Any, hook: Hook, now: datetime) -> None:
    """One attempt a round for all that waits, and no attempt is lost that was not made."""
    hook.statuses = [500]
    happen(30)
    assert deliveries.deliver(now) == 3
    assert len(hook.bodies) == 1
    assert sorted(Notification.objects.values_list("attempts", flat=True)) == [0, 0, 1]
    hook.statuses = [200]
    deliveries.deliver(now + timedelta(seconds=2))
    assert Notification.objects.filter(delivered=True).count() == 3


def test_what_is_too_old_is_given_up_together(happen: Any, hook: Hook, now: datetime) -> None:
    hook.statuses = [500]
    happen(30)
    deliveries.deliver(now)
    deliveries.deliver(now + timedelta(hours=25))
    assert Notification.objects.filter(delivered=False, reason="The webhook answered 500.", done_at=None).count() == 0
    assert len(hook.bodies) == 2


def test_a_receiver_that_is_silent_does_not_keep_others_waiting(
    happen: Any, hook: Hook, hit_type: HitType, now: datetime, mailoutbox: Any
) -> None:
    hook.statuses = [500]
    specification = {"Destination": "lab@example.org", "Transport": "Email", "Version": "2014-08-15"}
    events.set_notification(hit_type, specification | {"EventTypes": ["HITCreated"]}, None)
    hit_type.refresh_from_db()
    happen()
    deliveries.deliver(now)
    assert [message.to for message in mailoutbox] == [["lab@example.org"]]


def test_without_a_way_it_is_kept_with_the_reason(requester: Requester, now: datetime) -> None:
    place = {"Transport": "SQS", "Destination": "https://sqs.us-east-1.amazonaws.com/1/q"}
    deliveries.send_test(requester, place, "Ping", now)
    row = Notification.objects.get()
    assert (row.delivered, row.done_at, row.attempts) == (False, now, 1)
    assert "MARKETPLACE_SQS_ENDPOINT_URL is not set" in row.reason


def test_a_webhook_that_was_switched_off_gets_nothing_more(
    happen: Any, hook: Hook, told: Requester, now: datetime
) -> None:
    happen()
    events.stop_webhook(told)
    deliveries.deliver(now)
    assert hook.got == []
    assert Notification.objects.get().reason == "The webhook was switched off."


def test_a_process_that_died_while_sending_leaves_it_to_another(happen: Any, hook: Hook, now: datetime) -> None:
    happen()
    while deliveries._pack(now):
        pass
    assert len(deliveries._claim(now)) == 1
    assert deliveries.deliver(now + deliveries._CLAIM - timedelta(seconds=1)) == 0
    assert deliveries.deliver(now + deliveries._CLAIM) == 1


@pytest.mark.django_db(transaction=True)
def test_two_senders_at_once_send_each_once(happen: Any, hook: Hook, now: datetime) -> None:
    happen(40)
    gate = threading.Barrier(2)

    def work() -> None:
        gate.wait()
        deliveries.deliver(now)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    deliveries.deliver(now)
    sent = [event["HITId"] for body in hook.bodies for event in json.loads(body)["Events"]]
    assert len(sent) == len(set(sent)) == 40


def test_events_come_late_and_twice_on_demand(happen: Any, hook: Hook, now: datetime, settings: Any) -> None:
    settings.MARKETPLACE_TEST_CONTROLS = True
    Controls.objects.create(pk=1, event_delay_seconds=30, event_copies=2)
    happen()
    assert deliveries.deliver(now) == 0
    assert deliveries.deliver(now + timedelta(seconds=30)) == 1
    assert len(hook.bodies) == 2 and len(set(hook.bodies)) == 1


def test_old_notifications_are_forgotten(happen: Any, hook: Hook, now: datetime) -> None:
    hook.statuses = [200]
    happen()
    deliveries.deliver(now)
    assert deliveries.forget(now + timedelta(days=2)) == 0
    assert deliveries.forget(now + timedelta(days=3)) == 1


def test_nothing_due_takes_two_queries(db: None, now: datetime, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(2):
        assert deliveries.deliver(now) == 0


def test_an_answer_that_was_submitted_reaches_the_receiver(
    happen: Any, hook: Hook, hit_type: HitType, worker: Any, now: datetime
) -> None:
    happen()
    held = assignments.accept(hit_type, worker, now)
    assignments.submit(held.assignment_id, {"a": ["1"]}, now)
    deliveries.deliver(now)
    (body,) = hook.bodies
    types = [event["EventType"] for event in json.loads(body)["Events"]]
    assert types == ["HITCreated", "AssignmentAccepted", "AssignmentSubmitted", "HITReviewable"]
