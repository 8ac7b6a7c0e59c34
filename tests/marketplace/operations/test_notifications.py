"""The two operations for notifications, from a client to a queue and back."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from marketplace.models import Event, Notification
from marketplace.verbs import assignments, clock, deliveries

SPECIFICATION = {
    "Destination": "https://sqs.us-east-1.amazonaws.com/1/q",
    "Transport": "SQS",
    "Version": "2014-08-15",
    "EventTypes": ["AssignmentSubmitted"],
}


def refusal(work: Any) -> str:
    with pytest.raises(ClientError) as caught:
        work()
    code: str = caught.value.response["Error"]["Code"]
    return code


def test_a_requester_is_told_of_submissions_through_a_queue(
    aws: Any, mturk: Any, hit: Any, hit_type: Any, worker: Any
) -> None:
    queues = aws("sqs")
    url = queues.create_queue(QueueName="told")["QueueUrl"]
    mturk.update_notification_settings(
        HITTypeId=hit_type.hit_type_id, Notification=SPECIFICATION | {"Destination": url}
    )
    hit_type.refresh_from_db()
    done = assignments.accept(hit_type, worker, clock.now())
    assignments.submit(done.assignment_id, {"a": ["1"]}, clock.now())
    deliveries.deliver(clock.now())
    (message,) = queues.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    (event,) = json.loads(message["Body"])["Events"]
    assert (event["EventType"], event["AssignmentId"]) == ("AssignmentSubmitted", done.assignment_id)


def test_a_test_event_is_sent_at_once_whatever_the_specification_names(aws: Any, mturk: Any) -> None:
    queues = aws("sqs")
    url = queues.create_queue(QueueName="tested")["QueueUrl"]
    mturk.send_test_event_notification(
        Notification=SPECIFICATION | {"Destination": url}, TestEventType="AssignmentRejected"
    )
    mturk.send_test_event_notification(Notification=SPECIFICATION | {"Destination": url}, TestEventType="Ping")
    messages = queues.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    types = {json.loads(message["Body"])["Events"][0]["EventType"] for message in messages}
    assert types == {"AssignmentRejected", "Ping"}


def test_the_call_succeeds_where_nothing_can_be_sent_and_the_reason_is_kept(mturk: Any) -> None:
    topic = {"Destination": "arn:aws:sns:us-east-1:1:t", "Transport": "SNS", "EventTypes": ["Ping"]}
    mturk.send_test_event_notification(Notification=SPECIFICATION | topic, TestEventType="Ping")
    assert "is not set" in Notification.objects.get().reason


@pytest.mark.parametrize(
    "wrong",
    [
        {"Version": "2006-05-06"},
        {"EventTypes": []},
        {"EventTypes": ["Ping"]},
        {"Destination": "nowhere"},
        {"Transport": "SNS"},
        {"Transport": "Email"},
    ],
)
def test_a_specification_that_cannot_work_is_refused(mturk: Any, hit_type: Any, wrong: dict[str, Any]) -> None:
    work = {"HITTypeId": hit_type.hit_type_id, "Notification": SPECIFICATION | wrong}
    assert refusal(lambda: mturk.update_notification_settings(**work)) == "ParameterValidationError"
    hit_type.refresh_from_db()
    assert hit_type.notification == {}


def test_active_alone_switches_what_is_there(mturk: Any, hit_type: Any, make_hit: Any) -> None:
    about = {"HITTypeId": hit_type.hit_type_id}
    assert refusal(lambda: mturk.update_notification_settings(**about)) == "ParameterValidationError"
    assert refusal(lambda: mturk.update_notification_settings(**about, Active=True)) == "ParameterValidationError"
    mturk.update_notification_settings(**about, Notification=SPECIFICATION | {"EventTypes": ["HITCreated"]})
    mturk.update_notification_settings(**about, Active=False)
    hit_type.refresh_from_db()
    make_hit(hit_type)
    assert Event.objects.count() == 0
    mturk.update_notification_settings(**about, Active=True)
    hit_type.refresh_from_db()
    make_hit(hit_type)
    assert Event.objects.count() == 1


def test_nobody_sets_another_requesters_notifications(connect: Any, mturk: Any, hit_type: Any) -> None:
    work = {"HITTypeId": hit_type.hit_type_id, "Notification": SPECIFICATION}
    assert refusal(lambda: connect("bob", "s").update_notification_settings(**work)) == "RequestError"
    hit_type.refresh_from_db()
    assert hit_type.notification == {}
