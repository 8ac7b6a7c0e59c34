"""Documents of events, and who may send them."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hits.mturk import events
from hits.mturk.events import BadSignatureError, Event

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SUBMITTED = {
    "EventType": "AssignmentSubmitted",
    "EventTimestamp": "2019-08-09T21:17:16Z",
    "HITId": "3HIT",
    "AssignmentId": "3ASG",
    "HITTypeId": "3TYPE",
}


def document(*entries: Any) -> str:
    ids = {
        "EventDocId": "9928a4",
        "SourceAccount": "047991105548",
        "CustomerId": "AUYKY",
        "EventDocVersion": "2014-08-15",
    }
    return json.dumps({"Events": list(entries), **ids})


def test_a_document_holds_several_events() -> None:
    reviewable = {"EventType": "HITReviewable", "HITId": "3HIT"}
    assert events.read_document(document(SUBMITTED, reviewable)) == [
        Event("AssignmentSubmitted", "3HIT", "3ASG"),
        Event("HITReviewable", "3HIT"),
    ]


def test_a_topic_puts_the_document_into_an_envelope() -> None:
    envelope = json.dumps({"Type": "Notification", "Subject": "1767225600000", "Message": document(SUBMITTED)})
    assert events.read_document(envelope) == [Event("AssignmentSubmitted", "3HIT", "3ASG")]


def test_a_ping_is_an_event_like_others() -> None:
    assert events.read_document(document({"EventType": "Ping"}))[0].kind == "Ping"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no JSON",
        b"\xff\xfe",
        "[]",
        "7",
        "{}",
        '{"Events": 7}',
        '{"Message": "hello"}',
        '{"Events": ["AssignmentSubmitted"]}',
        '{"Events": [{"HITId": "3HIT"}]}',
        '{"Events": [{"EventType": "HITReviewable"}]}',
        '{"Events": [{"EventType": "HITReviewable", "HITId": 7}]}',
        '{"Events": [{"EventType": "HITReviewable", "HITId": "3\\u0000"}]}',
        "[" * 100_000,
    ],
)
def test_anything_else_is_malformed(body: str | bytes) -> None:
    with pytest.raises(ValueError, match="^(The document (has|is) no |An event has no |The event )"):
        events.read_document(body)


def _signed(timestamp: str, body: bytes, secret: str = "secret") -> str:
    return "sha256=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def test_a_fresh_signature_is_good() -> None:
    timestamp = str(int((NOW - timedelta(seconds=299)).timestamp()))
    events.check_signature("secret", timestamp, _signed(timestamp, b"{}"), b"{}", NOW)


@pytest.mark.parametrize("seconds", [-301, 301])
def test_an_old_signature_is_not_nor_one_of_the_future(seconds: int) -> None:
    timestamp = str(int((NOW + timedelta(seconds=seconds)).timestamp()))
    with pytest.raises(BadSignatureError, match="five minutes"):
        events.check_signature("secret", timestamp, _signed(timestamp, b"{}"), b"{}", NOW)


@pytest.mark.parametrize(
    ("timestamp", "signature"),
    [("1", "sha256=0"), ("", ""), ("1", "sha256=é"), ("x", _signed("x", b"{}")), ("1e9", _signed("1e9", b"{}"))],
)
def test_other_signatures_are_not(timestamp: str, signature: str) -> None:
    with pytest.raises(BadSignatureError):
        events.check_signature("secret", timestamp, signature, b"{}", NOW)


def test_another_body_or_secret_makes_another_signature() -> None:
    timestamp = str(int(NOW.timestamp()))
    for signature in (_signed(timestamp, b"{} "), _signed(timestamp, b"{}", "guess")):
        with pytest.raises(BadSignatureError):
            events.check_signature("secret", timestamp, signature, b"{}", NOW)


@pytest.mark.parametrize(
    ("url", "region"),
    [
        ("https://sqs.eu-west-1.amazonaws.com/123/answers", "eu-west-1"),
        ("https://queue.example.org/123/answers", "us-east-1"),
    ],
)
def test_a_queue_is_asked_in_its_own_region(url: str, region: str) -> None:
    queue = events.EventQueue(url, endpoint_url="", region="us-east-1", key_id="x", secret="y")
    assert queue._client.meta.region_name == region
