"""To a mail server on this machine, by SMTP."""

import email
import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from marketplace.rules import notifications
from marketplace.transports import Letter, TransportError, send

SENT_AT = datetime(2026, 1, 1, tzinfo=UTC)


class Mailbox:
    def __init__(self) -> None:
        self.got: list[Any] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.got.append(envelope)
        return "250 OK"


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    handler = Mailbox()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(handler, hostname="127.0.0.1", port=port)
    controller.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    yield handler
    controller.stop()


def document() -> str:
    entries = [notifications.event(name, SENT_AT, "3TYPE", "3HIT") for name in ("HITReviewable", "HITExpired")]
    return notifications.document(entries, "d" * 40, "A1")


def test_a_person_reads_what_happened_and_a_program_finds_the_document(mailbox: Mailbox) -> None:
    send(Letter("Email", "lab@example.org", document(), SENT_AT))
    (envelope,) = mailbox.got
    message = email.message_from_bytes(envelope.content)
    assert (envelope.rcpt_tos, message["Subject"]) == (["lab@example.org"], "Notification: HITExpired, HITReviewable")
    lines = message.get_payload().splitlines()
    assert lines[0] == "2026-01-01T00:00:00Z HITReviewable 3HIT"
    assert json.loads(lines[-1])["EventDocId"] == "d" * 40


def test_a_mail_server_that_is_away_means_another_attempt(settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    with pytest.raises(TransportError, match="ConnectionRefused") as caught:
        send(Letter("Email", "lab@example.org", document(), SENT_AT))
    assert not caught.value.permanent
