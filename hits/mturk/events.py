"""What the marketplace tells of HITs by itself: documents of events, from a queue (SQS) or a signed webhook.

Documents come at least once and in no order; the same one may come again. They are hints of where to look, never
what is recorded.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

PING = "Ping"
SUBMITTED, REVIEWABLE = "AssignmentSubmitted", "HITReviewable"
APPROVED, REJECTED = "AssignmentApproved", "AssignmentRejected"
# Those that say where something can be fetched; the others need not be sent.
WANTED = (SUBMITTED, REVIEWABLE, APPROVED, REJECTED)
FRESH_SECONDS = 300
MESSAGES_A_CALL = 10
# A moment of waiting asks all of the queue's servers, not some of them.
WAIT_SECONDS = 1
_REGION = re.compile(r"https?://(?:sqs\.)?([a-z]{2}(?:-[a-z]+)+-\d)\.(?:queue\.)?amazonaws\.com")


class BadSignatureError(ValueError):
    """The document does not come from who knows the secret, or it is old."""


class EventQueueError(Exception):
    """The queue does not answer, or refuses. Nothing is lost: it keeps its messages, and answers are looked for."""


@dataclass(frozen=True)
class Event:
    """`assignment_id` is empty where the event is about the HIT alone."""

    kind: str
    hit_id: str
    assignment_id: str = ""


@dataclass(frozen=True)
class Message:
    """One delivery: `receipt` is what deletes it."""

    body: str
    receipt: str


def read_document(body: str | bytes) -> list[Event]:
    """The events of a document, also when a topic (SNS) has put it into its envelope. Raises ValueError."""
    document = _object(body)
    if "Events" not in document and isinstance(document.get("Message"), str):
        document = _object(document["Message"])
    entries = document.get("Events")
    if not isinstance(entries, list):
        raise ValueError("The document has no list of Events.")
    return [_event(entry) for entry in entries]


def _object(body: str | bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ValueError("The document is no JSON.") from error
    if not isinstance(found, dict):
        raise ValueError("The document is no JSON object.")
    return found


def _event(entry: Any) -> Event:
    texts = entry if isinstance(entry, dict) else {}
    kind, hit_id, assignment_id = (texts.get(name, "") for name in ("EventType", "HITId", "AssignmentId"))
    if not (isinstance(kind, str) and isinstance(hit_id, str) and isinstance(assignment_id, str) and kind):
        raise ValueError("An event has no EventType, or ids that are no texts.")
    # The database's texts cannot hold the character NUL, and no id has one.
    if "\0" in hit_id + assignment_id or (kind != PING and not hit_id):
        raise ValueError(f"The event {kind[:40]!r} names no HIT.")
    return Event(kind, hit_id, assignment_id)


def check_signature(secret: str, timestamp: str, signature: str, body: bytes, now: datetime) -> None:
    """Raises BadSignatureError unless the body was signed with the secret in the last five minutes."""
    expected = "sha256=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    # Compared first and in constant time: an outsider learns nothing about what is wrong.
    if not hmac.compare_digest(expected.encode(), signature.encode()):
        raise BadSignatureError("The signature is wrong.")
    if not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > 12:
        raise BadSignatureError("The timestamp is no number of seconds.")
    if abs(now.timestamp() - int(timestamp)) > FRESH_SECONDS:
        raise BadSignatureError("The document is more than five minutes old, or the clocks differ.")


class EventQueue:
    """A queue of SQS, or of a server that speaks its API. Safe to share between threads."""

    def __init__(self, url: str, *, endpoint_url: str, region: str, key_id: str, secret: str) -> None:
        self.url = url
        named = _REGION.match(url)
        # mypy knows boto3's services by their literal names; the arguments of one's own are optional.
        make: Any = boto3.client
        self._client = make(
            "sqs",
            endpoint_url=endpoint_url or None,
            region_name=named.group(1) if named else region,
            aws_access_key_id=key_id or None,
            aws_secret_access_key=secret or None,
            config=Config(connect_timeout=3, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 2}),
        )

    def receive(self) -> list[Message]:
        """At most ten messages; they stay hidden from others for a minute. Raises EventQueueError."""
        reply = self._call(
            "receive_message",
            MaxNumberOfMessages=MESSAGES_A_CALL,
            WaitTimeSeconds=WAIT_SECONDS,
            VisibilityTimeout=60,
        )
        return [Message(found["Body"], found["ReceiptHandle"]) for found in reply.get("Messages", [])]

    def delete(self, messages: Sequence[Message]) -> None:
        """What cannot be deleted comes again. Raises EventQueueError."""
        entries = [{"Id": str(number), "ReceiptHandle": found.receipt} for number, found in enumerate(messages)]
        self._call("delete_message_batch", Entries=entries)

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        try:
            reply: dict[str, Any] = getattr(self._client, operation)(QueueUrl=self.url, **arguments)
        except (ClientError, BotoCoreError) as error:
            raise EventQueueError(f"The queue of events does not answer: {error}") from error
        return reply
