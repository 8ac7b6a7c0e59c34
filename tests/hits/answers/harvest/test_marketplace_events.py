"""Events of a real queue and of the marketplace's webhook: hints of where to look, whatever comes how often."""

from __future__ import annotations

import json
import logging
import os
from datetime import timedelta
from decimal import Decimal
from typing import Any

import boto3
import pytest
from django.utils import timezone

from hits import tasks
from hits.answers.verbs import harvesting, marketplace_events
from hits.items.verbs import importing
from hits.models import Assignment, Hit, Stage
from hits.mturk import events
from hits.mturk.events import Event, EventQueueError
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing, sending
from hits.stages.verbs import stage_settings
from tests.hits.answers.harvest.conftest import a_moment_later
from tests.hits.record_project import example, lines

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def queues(cloud: str) -> Any:
    keys = {"region_name": "us-east-1", "aws_access_key_id": "x", "aws_secret_access_key": "y"}
    return boto3.client("sqs", endpoint_url=cloud, **keys)


@pytest.fixture
def heard(market, controls, queue_url, bring, stage, publish, calm_stage) -> Stage:
    """Two HITs for two answers each, whose events go to the queue."""
    projects.want_answers(stage, 2, 1)
    bring(2)
    publish(stage)
    assert marketplace_events.ensure_events(stage)
    calm_stage()
    stage.refresh_from_db()
    return stage


def test_the_marketplace_is_told_once_where_events_go(heard, queue_url, controls):
    assert heard.events_to == queue_url
    assert not marketplace_events.ensure_events(heard)
    assert marketplace_events.unsubscribed_stages() == []
    assert controls.counts()["UpdateNotificationSettings"] == 1


def test_a_stage_that_nobody_listens_to_is_found_and_told(market, queue_url, bring, stage, publish, eager):
    bring(1)
    publish(stage)
    assert marketplace_events.unsubscribed_stages() == [stage.pk]
    tasks.resume_all()
    assert marketplace_events.unsubscribed_stages() == []


def test_hits_of_another_reward_are_heard_too(heard, controls, bring, publish):
    first = heard.hit_type_id
    stage_settings.change(heard, {"reward": "0.09"}, None)
    # Before the next publication: the HITs that are there are still heard.
    marketplace_events.ensure_events(heard)
    bring(lines([example(7)]))
    publish(heard, "page-2")
    assert heard.hit_type_id not in ("", first)
    assert marketplace_events.unsubscribed_stages() == [heard.pk]
    assert marketplace_events.ensure_events(heard)
    assert marketplace_events.unsubscribed_stages() == []


def test_a_queue_that_the_marketplace_refuses_is_not_offered_again(market, bring, stage, publish, settings, caplog):
    settings.MTURK_EVENTS_QUEUE_URL = "http://queues.example.org/1/answers"
    bring(1)
    publish(stage)
    assert marketplace_events.ensure_events(stage)
    stage.refresh_from_db()
    assert marketplace_events.unsubscribed_stages() == []
    assert not marketplace_events.ensure_events(stage)
    assert "MTURK_EVENTS_QUEUE_URL" in caplog.text


def test_the_last_answer_makes_its_hit_due_and_the_first_does_not(heard, market, answer):
    hit, other = heard.hits.order_by("id")
    answer(market.sign_up_worker(), hit)
    market.do("deliver_events")
    assert marketplace_events.receive() >= 1
    assert not Hit.objects.exclude(due_at=None).exists()
    answer(market.sign_up_worker(), hit)
    market.do("deliver_events")
    marketplace_events.receive()
    assert list(Hit.objects.exclude(due_at=None)) == [hit]
    a_moment_later()
    assert harvesting.harvest(heard, sweep=False) == 2


def test_late_and_duplicated_events_cost_no_call_more(heard, market, answer, controls):
    controls.turn(event_copies=3, event_delay_seconds=1)
    for hit in heard.hits.all():
        for _ in range(2):
            answer(market.sign_up_worker(), hit)
    market.do("deliver_events")
    assert marketplace_events.receive() == 0
    controls.turn(event_delay_seconds=0, advance_seconds=2, forget_requests=True)
    market.do("deliver_events")
    assert marketplace_events.receive() >= 3
    a_moment_later()
    assert harvesting.harvest(heard, sweep=False) == 4
    # The same ones again, after all is here.
    assert marketplace_events.note([Event(events.REVIEWABLE, hit.hit_id) for hit in heard.hits.all()]) == 0
    told = Assignment.objects.values_list("hit__hit_id", "assignment_id")
    assert marketplace_events.note([Event(events.SUBMITTED, *ids) for ids in told]) == 0
    assert marketplace_events.note([Event(events.APPROVED, *ids) for ids in told]) == 0
    assert controls.counts() == {"ListAssignmentsForHIT": 2}


def test_an_answer_after_expiry_and_one_after_closing_make_their_hits_due(heard, queue_url):
    expired, closed = heard.hits.order_by("id")
    Hit.objects.filter(pk=expired.pk).update(expires_at=timezone.now())
    Hit.objects.filter(pk=closed.pk).update(state=Hit.State.CLOSED)
    late = [Event(events.SUBMITTED, hit.hit_id, f"3LATE{hit.pk}") for hit in (expired, closed)]
    assert marketplace_events.note(late) == 2
    Hit.objects.update(due_at=None)
    # How expired HITs ended, one page of the list tells of a hundred.
    assert marketplace_events.note([Event(events.REVIEWABLE, hit.hit_id) for hit in (expired, closed)]) == 0


def test_a_decision_that_was_not_ours_makes_its_hit_due(market, heard, answer):
    Stage.objects.update(approval=Stage.Approval.REVIEW)
    hit = heard.hits.first()
    answer(market.sign_up_worker(), hit)
    harvesting.harvest(heard)
    Hit.objects.update(due_at=timezone.now())
    harvesting.harvest(heard, sweep=False)
    row = Assignment.objects.get()
    Assignment.objects.update(state="Submitted")
    told = [Event(events.APPROVED, hit.hit_id, row.assignment_id)]
    assert marketplace_events.note(told) == 1
    Hit.objects.update(due_at=None)
    Assignment.objects.update(decision="Approved")
    assert marketplace_events.note(told) == 0


def test_the_signed_webhook_of_the_marketplace_does_what_the_queue_does(
    market, controls, bring, stage, publish, answer, calm_stage, live_server, settings
):
    bring(1)
    publish(stage)
    calm_stage()
    address = live_server.url + "/events/"
    settings.MTURK_WEBHOOK_SECRET = market.do("set_webhook", key_id=os.environ["AWS_ACCESS_KEY_ID"], url=address)
    controls.turn(event_copies=2)
    answer(market.sign_up_worker(), stage.hits.get())
    assert market.do("deliver_events") >= 1
    assert market.do("deliver_events") == 0
    a_moment_later()
    assert harvesting.harvest(stage, sweep=False) == 1


def test_malformed_unknown_and_ping_messages_are_thrown_away(heard, queues, queue_url, caplog):
    bodies = ["no JSON", json.dumps({"Events": [{"EventType": "Ping"}]}), json.dumps({"Events": [{"EventType": "X"}]})]
    unknown = {"EventType": "HITReviewable", "HITId": "3SOMEBODYELSES"}
    for body in [*bodies, json.dumps({"Events": [unknown]})]:
        queues.send_message(QueueUrl=queue_url, MessageBody=body)
    with caplog.at_level(logging.WARNING):
        assert marketplace_events.receive() == 4
    assert caplog.text.count("thrown away") == 2
    assert marketplace_events.receive() == 0
    assert not Hit.objects.exclude(due_at=None).exists()


def test_a_queue_that_is_away_is_a_line_in_the_log(market, settings, queue_url, caplog):
    settings.MTURK_EVENTS_QUEUE_URL = queue_url + "-gone"
    marketplace_events.queue.cache_clear()
    with pytest.raises(EventQueueError):
        marketplace_events.receive()
    assert tasks.receive_events() == 0
    assert "The queue of events does not answer" in caplog.text


def test_a_crash_before_deleting_lets_messages_come_again(heard, market, answer, monkeypatch, queues, queue_url):
    for _ in range(2):
        answer(market.sign_up_worker(), heard.hits.first())
    market.do("deliver_events")
    monkeypatch.setattr(
        marketplace_events.queue(), "delete", lambda messages: (_ for _ in ()).throw(EventQueueError("killed"))
    )
    with pytest.raises(EventQueueError):
        marketplace_events.receive()
    assert Hit.objects.exclude(due_at=None).count() == 1
    left = queues.get_queue_attributes(QueueUrl=queue_url, AttributeNames=["All"])["Attributes"]
    assert int(left["ApproximateNumberOfMessagesNotVisible"]) >= 1


def _rows(stage: Stage) -> dict[str, list[tuple]]:
    """Every row that harvesting leaves, by what does not differ between two runs of one script."""
    return {
        "hits": sorted(stage.hits.values_list("item__key", "state", "harvested", "due_at", "short_since", "error")),
        "answers": sorted(
            stage.assignments.values_list("hit__item__key", "state", "answer__text", "scored", "decision", "adopted"),
        ),
        "labels": sorted(stage.labels.values_list("item__key", "correct", "void")),
        "verdicts": sorted(stage.items.values_list("key", "state", "verdicts__outcome")),
        "money": sorted(
            stage.project.ledger.values_list("kind", "reserved", "paid", "fee", "hit__item__key", "note"), key=str
        ),
    }


def _script(market: Any, answer: Any, stage: Stage) -> None:
    """Complete and short HITs, right and wrong answers, an expiry, and one who answers after it."""
    hits = list(stage.hits.order_by("id"))
    for hit in hits[:3]:
        for name in ("Linden", "Tomas Reyes"):
            answer(market.sign_up_worker(), hit, name)
    answer(market.sign_up_worker(), hits[3])
    held = market.accept(market.sign_up_worker(), hit_id=hits[4].hit_id)
    sending.send(publishing.expire(stage, None).pk)
    start = hits[4].item.document.data["text"].index("Linden")
    market.submit(held, answer=f"{start}-{start + 5}", text="Linden")


def test_events_and_the_list_alone_give_the_same_rows(
    market, controls, queue_url, lead, bring, publish, answer, eager, settings
):
    """Two projects of the same items: one hears events (late, and several times), the other one only reads the list."""
    controls.turn(event_copies=2)
    found = []
    for name in ("by events", "by list"):
        project = projects.create_project(name, "record", Decimal("20.00"), "lab@example.org", lead, seed=3)
        project.stages.update(auto_approval_seconds=0)
        stage = project.stages.get(position=1)
        projects.want_answers(stage, 2, 1)
        upload = importing.create_upload(project, "f.jsonl", lines([example(n) for n in range(6)]), "public", None)
        importing.import_upload(upload.pk)
        publish(stage, name)
        if name == "by events":
            marketplace_events.ensure_events(stage)
        _script(market, answer, stage)
        for _ in range(3):
            if name == "by events":
                market.do("deliver_events")
                marketplace_events.receive()
            a_moment_later()
            Stage.objects.filter(pk=stage.pk).update(swept_at=timezone.now() - timedelta(seconds=600))
            tasks.harvest_stage(stage.pk, sweep=False)
        found.append(_rows(stage))
    assert found[0] == found[1]
    assert len(found[0]["answers"]) == 8
    assert len(found[0]["money"]) > 8
