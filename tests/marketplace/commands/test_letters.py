"""Letters about accounts, through a real mail server and a clock in a process of its own."""

import os
import socket
import subprocess
import sys
from datetime import datetime, timedelta
from email import message_from_bytes
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from common.env import Shared
from common.mail import mail_settings
from marketplace.models import Letter, Worker
from marketplace.verbs import access, letters


class _Mailbox:
    def __init__(self) -> None:
        self.letters: list[Any] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.letters.append((envelope.rcpt_tos, message_from_bytes(envelope.content)))
        return "250 OK"


def _database_url() -> str:
    kept = connection.settings_dict
    if connection.vendor == "postgresql":
        return f"postgres://{kept['USER']}:{kept['PASSWORD']}@{kept['HOST']}:{kept['PORT']}/{kept['NAME']}"
    return f"sqlite:///{kept['NAME']}"


@pytest.mark.django_db(transaction=True)
def test_the_clock_sends_letters_through_the_configured_server(settings: Any, now: datetime) -> None:
    settings.MARKETPLACE_MAIL = True
    access.sign_up("nina", "long-enough-7", email="nina@example.org", country="CA", now=now)
    mailbox = _Mailbox()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = Controller(mailbox, hostname="127.0.0.1", port=port)
    server.start()
    try:
        mail = {"EMAIL_URL": f"smtp://127.0.0.1:{port}"}
        environment = os.environ | mail | {"MARKETPLACE_DATABASE_URL": _database_url()}
        environment["DJANGO_SETTINGS_MODULE"] = "tests.settings.marketplace"
        subprocess.run([sys.executable, "-m", "marketplace", "tick", "--once"], env=environment, check=True)
    finally:
        server.stop()
    [(to, letter)] = mailbox.letters
    assert to == ["nina@example.org"]
    assert letter["From"] == "commons@127.0.0.1"
    assert f"{settings.MARKETPLACE_PUBLIC_URL}/accounts/confirm/" in letter.get_payload()
    assert not Letter.objects.exists()


def test_a_letter_that_cannot_be_sent_is_tried_six_times(worker: Worker, settings: Any, now: datetime) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    letters.write(worker, "walter@example.org", "Hello", "text", now)
    tried = []
    for minute in range(70):
        moment = now + timedelta(minutes=minute)
        before = Letter.objects.values_list("attempts", flat=True).first()
        assert letters.send_due(moment) == 0
        if Letter.objects.values_list("attempts", flat=True).first() != before:
            tried.append(minute)
    assert tried == [0, 1, 3, 7, 15, 31]
    assert not Letter.objects.exists()


def test_a_mail_address_is_read_strictly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMAIL_URL", "smtp+tls://commons%40lab:p%2Fw@mail.example.org")
    read = mail_settings(Shared.read().EMAIL_URL)
    assert (read["EMAIL_HOST_USER"], read["EMAIL_HOST_PASSWORD"]) == ("commons@lab", "p/w")
    assert (read["EMAIL_PORT"], read["EMAIL_USE_TLS"], read["EMAIL_USE_SSL"]) == (587, True, False)
    for wrong in ("mail.example.org", "http://mail.example.org", "smtp://", "smtp://h:x", "smtp://h/path"):
        monkeypatch.setenv("EMAIL_URL", wrong)
        with pytest.raises(ImproperlyConfigured, match=r"^EMAIL_URL: write an address such as [^,]*\.$"):
            Shared.read()
    monkeypatch.delenv("EMAIL_URL")
    assert mail_settings(Shared.read().EMAIL_URL) == {}
