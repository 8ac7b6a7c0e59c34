"""E-mail, through whatever Django's mail settings name."""

import json
from smtplib import SMTPException

from django.core.mail import EmailMessage, get_connection

from marketplace.transports.errors import TransportError

# For each step of the exchange: a mail server that is slow must not hold up the other transports.
_SECONDS = 8


def send(address: str, body: str) -> None:
    try:
        EmailMessage(_subject(body), _text(body), to=[address], connection=get_connection(timeout=_SECONDS)).send()
    except (OSError, SMTPException) as error:
        raise TransportError(f"{type(error).__name__}: {error}") from error


def _subject(body: str) -> str:
    types = sorted({event["EventType"] for event in json.loads(body)["Events"]})
    return f"Notification: {', '.join(types)}"


def _text(body: str) -> str:
    """One line per event for a person, and the document for a program."""
    lines = [
        " ".join([event["EventTimestamp"], event["EventType"], event["HITId"], event.get("AssignmentId", "")]).rstrip()
        for event in json.loads(body)["Events"]
    ]
    return "\n".join([*lines, "", body, ""])
