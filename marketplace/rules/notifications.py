"""Notifications of events: who may be told, where, and in what words (the API's version 2014-08-15)."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from common.addresses import LONGEST_ADDRESS, AddressError, Reach, checked, is_loopback
from marketplace.rules.errors import ParameterValidationError

VERSION = "2014-08-15"
# The older one is what the service model of the API names and many programs send; messages are the same for both.
VERSIONS = ("2006-05-05", VERSION)
PING = "Ping"
EMAIL, SQS, SNS = "Email", "SQS", "SNS"
# Not of the API: each requester may have one, and it is told everything.
WEBHOOK = "Webhook"
LONGEST_DESTINATION = LONGEST_ADDRESS
EVENTS_PER_MESSAGE = 10
# Seconds between two attempts; after the last one a notification is given up, about eleven hours old.
RETRY_SECONDS = (2, 5, 15, 60, 300, 900, 3600, 10_800, 21_600)

_TOPIC = re.compile(r"arn:aws[\w-]*:sns:[\w-]+:\d+:[\w-]{1,256}(\.fifo)?", re.ASCII)
_MAILBOX = re.compile(r"[^@\s,;<>\"]{1,64}@[\w-]+(\.[\w-]+)*", re.ASCII)
_QUEUE_PATH = re.compile(r"/(\d+|queue)/[\w-]{1,80}(\.fifo)?", re.ASCII)

Specification = dict[str, Any]


def check_specification(given: Mapping[str, Any], *, test: bool, loopback: bool) -> Specification:
    """A notification specification in normal form.

    Only a `test` may name Ping; `loopback` lets queues be plain http on this machine. Raises
    ParameterValidationError, as InvalidTransportEndpoint for a destination that does not fit its transport.
    """
    if given["Version"] not in VERSIONS:
        raise ParameterValidationError(f"Version is '{given['Version'][:40]}'; use one of {', '.join(VERSIONS)}.")
    types = list(dict.fromkeys(given["EventTypes"]))
    if not types:
        raise ParameterValidationError("EventTypes must name at least one event.")
    if PING in types and not test:
        raise ParameterValidationError("The Ping event is for SendTestEventNotification only.")
    return {
        "Transport": given["Transport"],
        "Destination": _check_destination(given["Transport"], given["Destination"], loopback),
        "EventTypes": types,
    }


def _check_destination(transport: str, destination: str, loopback: bool) -> str:
    fits = (
        len(destination) <= LONGEST_DESTINATION
        and {
            SQS: lambda: _is_queue(destination, loopback),
            SNS: lambda: _TOPIC.fullmatch(destination) is not None,
            EMAIL: lambda: _MAILBOX.fullmatch(destination) is not None,
        }[transport]()
    )
    if not fits:
        wanted = {SQS: "the https address of a queue", SNS: "the ARN of a topic", EMAIL: "an e-mail address"}[transport]
        raise ParameterValidationError(
            f"Destination must be {wanted} for the transport {transport}.", "InvalidTransportEndpoint"
        )
    return destination


def _is_queue(url: str, loopback: bool) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    safe = parts.scheme == "https" or (parts.scheme == "http" and loopback and is_loopback(host))
    return bool(safe and host and _QUEUE_PATH.fullmatch(parts.path) and not parts.query and not parts.fragment)


def check_webhook_url(url: str, *, loopback: bool) -> str:
    """The address as it is when it may be called; raises ParameterValidationError with the reason when not."""
    try:
        checked(url, Reach(loopback=loopback))
    except AddressError as error:
        raise ParameterValidationError(f"The webhook's address {error}", "InvalidTransportEndpoint") from None
    return url


def event(
    event_type: str, happened_at: datetime, hit_type_id: str, hit_id: str, assignment_id: str | None = None
) -> dict[str, str]:
    """One entry of a notification's "Events"."""
    entry = {"EventType": event_type, "EventTimestamp": f"{happened_at:%Y-%m-%dT%H:%M:%SZ}", "HITId": hit_id}
    if assignment_id is not None:
        entry["AssignmentId"] = assignment_id
    return entry | {"HITTypeId": hit_type_id}


def test_event(event_type: str, happened_at: datetime) -> dict[str, str]:
    """An event of no HIT: its ids are plainly made up."""
    about = "1234567890" * 3 if event_type.startswith("Assignment") else None
    return event(event_type, happened_at, "0987654321" * 3, "1234509876" * 3, about)


def document(events: Sequence[Mapping[str, str]], document_id: str, customer_id: str) -> str:
    """The JSON text of a notification. A receiver knows an event again by document id and place in the list."""
    return json.dumps(
        {
            "Events": list(events),
            "EventDocId": document_id,
            "SourceAccount": account_number(customer_id),
            "CustomerId": customer_id,
            "EventDocVersion": VERSION,
        },
        separators=(",", ":"),
    )


def account_number(customer_id: str) -> str:
    """Twelve digits that stand for the requester, always the same."""
    return f"{int.from_bytes(hashlib.sha256(customer_id.encode()).digest()[:8]) % 10**12:012d}"


def retry_after(attempts: int) -> int | None:
    """Seconds to wait after so many failed attempts; None when it is time to give up."""
    return RETRY_SECONDS[attempts - 1] if attempts <= len(RETRY_SECONDS) else None
