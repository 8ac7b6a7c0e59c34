"""Over HTTP to a server that has queues and topics."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from marketplace.transports import Letter, TransportError, send
from tests.marketplace.transports.sinks import Hook

SENT_AT = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_queue_gets_the_document_as_its_message(aws: Any) -> None:
    queues = aws("sqs")
    url = queues.create_queue(QueueName="answers")["QueueUrl"]
    send(Letter("SQS", url, '{"Events":[]}', SENT_AT))
    (message,) = queues.receive_message(QueueUrl=url)["Messages"]
    assert message["Body"] == '{"Events":[]}'


def test_a_topic_gets_the_document_and_the_time_as_its_subject(aws: Any) -> None:
    """Seen through a queue that subscribes to the topic."""
    topics, queues = aws("sns"), aws("sqs")
    arn = topics.create_topic(Name="answers")["TopicArn"]
    url = queues.create_queue(QueueName="subscriber")["QueueUrl"]
    queue_arn = queues.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    topics.subscribe(TopicArn=arn, Protocol="sqs", Endpoint=queue_arn)
    send(Letter("SNS", arn, '{"Events":[]}', SENT_AT))
    (message,) = queues.receive_message(QueueUrl=url)["Messages"]
    envelope = json.loads(message["Body"])
    assert (envelope["Message"], envelope["Subject"]) == ('{"Events":[]}', "1767225600000")


def test_the_endpoint_is_asked_whatever_server_the_queue_names(aws: Any) -> None:
    """The queue's address comes from a requester, the endpoint from the operator."""
    queues = aws("sqs")
    url = queues.create_queue(QueueName="elsewhere")["QueueUrl"]
    account = url.rsplit("/", 2)[1]
    send(Letter("SQS", f"https://169.254.169.254/{account}/elsewhere", "{}", SENT_AT))
    assert len(queues.receive_message(QueueUrl=url)["Messages"]) == 1


def test_a_queue_that_is_not_there_may_come_later(aws: Any) -> None:
    with pytest.raises(TransportError) as caught:
        send(Letter("SQS", "https://sqs.us-east-1.amazonaws.com/1/nowhere", "{}", SENT_AT))
    assert not caught.value.permanent


def test_a_proxys_page_in_place_of_an_answer_is_an_error_like_any_other(aws: Any, hook: Hook, settings: Any) -> None:
    settings.MARKETPLACE_SNS_ENDPOINT_URL = hook.url
    hook.statuses, hook.page = [500], b"<!doctype html><p>The server is restarted.<br>"
    with pytest.raises(TransportError) as caught:
        send(Letter("SNS", "arn:aws:sns:us-east-1:1:topic", "{}", SENT_AT))
    assert not caught.value.permanent


@pytest.mark.parametrize(("transport", "name"), [("SQS", "MARKETPLACE_SQS_ENDPOINT_URL"), ("SNS", "MARKETPLACE_SNS")])
def test_without_an_endpoint_there_is_no_way_and_no_second_attempt(transport: str, name: str) -> None:
    with pytest.raises(TransportError, match=name) as caught:
        send(Letter(transport, "https://sqs.us-east-1.amazonaws.com/1/q", "{}", SENT_AT))
    assert caught.value.permanent
