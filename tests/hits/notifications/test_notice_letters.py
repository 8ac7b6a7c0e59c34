"""Notices by e-mail: through a real mail server, once each, whatever is interrupted."""

from __future__ import annotations

import os
import secrets
import smtplib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from typing import Any

import hypothesis
import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.utils import timezone
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from hits import tasks
from hits.models import (
    Account,
    LetterNotice,
    Membership,
    Notice,
    NoticeLetter,
    Project,
    Stage,
    StageSummary,
    Upload,
)
from hits.notifications.rules import notices
from hits.notifications.verbs import notice_addresses, notice_letters, writing_notices
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.mailbox import Mailbox, mail_server, read

pytestmark = pytest.mark.django_db
State = NoticeLetter.State


@pytest.fixture
def alice() -> Any:
    return make.user("alice", email="alice@example.org")


@pytest.fixture
def project(alice: Any) -> Project:
    return make.project(owner=alice, name="River", slug="river")


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    with mail_server() as server:
        settings.MAIL, settings.EMAIL_HOST, settings.EMAIL_PORT = True, "127.0.0.1", server.port
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.PUBLIC_URL = "https://leads.example.org"
        yield server


def _hours_pass(hours: int = 2) -> None:
    """For the waits between letters and between attempts."""
    passed = timedelta(hours=hours)
    NoticeLetter.objects.update(created_at=F("created_at") - passed, sent_at=F("sent_at") - passed)
    _attempts_are_due()


def _attempts_are_due() -> None:
    NoticeLetter.objects.exclude(not_before=None).update(not_before=timezone.now())


def test_a_letter_through_a_real_server_names_what_happened_with_links(project: Project, mailbox: Mailbox) -> None:
    make.notice(project, more="The file is broken.")
    assert notice_letters.send() == 1
    [(to, letter)] = mailbox.letters
    assert to == ["alice@example.org"]
    assert letter["Subject"] == "1 notice from River"
    assert letter["From"] == "annotate@localhost"
    assert letter["Auto-Submitted"] == "auto-generated"
    assert letter.get_content_type() == "text/plain"
    text = read(letter)
    assert "* rows.csv was not imported: The file is broken.\n  https://leads.example.org/projects/river/" in text
    assert "https://leads.example.org/notices/" in text
    assert notice_letters.send() == 0
    assert len(mailbox.letters) == 1


@pytest.mark.django_db(transaction=True)
def test_a_process_of_its_own_sends_through_the_server_of_the_environment(project: Project) -> None:
    """EMAIL_URL is all that it is told about the server."""
    make.upload(project, name="rows.csv", state=Upload.State.FAILED)
    kept = connection.settings_dict
    place = f"sqlite:///{kept['NAME']}"
    if connection.vendor == "postgresql":
        place = f"postgres://{kept['USER']}:{kept['PASSWORD']}@{kept['HOST']}:{kept['PORT']}/{kept['NAME']}"
    with mail_server() as mailbox:
        environment = os.environ | {
            "DATABASE_URL": place,
            "DJANGO_SETTINGS_MODULE": "tests.settings.annotate",
            "SECRET_KEY": secrets.token_urlsafe(48),
            "EMAIL_URL": f"smtp://127.0.0.1:{mailbox.port}",
            "PUBLIC_URL": "https://leads.example.org",
        }
        send = "from hits import tasks; print(tasks.tell_members())"
        command = [sys.executable, "manage.py", "shell", "-c", send]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "1"
    [text] = mailbox.texts("alice@example.org")
    assert "https://leads.example.org/projects/river/uploads/" in text


def test_two_hundred_notices_are_one_letter_and_the_next_comes_an_hour_later(
    project: Project, alice: Any, mailbox: Mailbox
) -> None:
    other = make.project(owner=alice, name="Lake", slug="lake")
    for number in range(195):
        make.notice(project, f"Notice {number}.")
    for number in range(5):
        make.notice(other, f"Other {number}.")
    assert notice_letters.send() == 1
    [text] = mailbox.texts("alice@example.org")
    assert mailbox.letters[0][1]["Subject"] == "200 notices from 2 projects"
    assert text.count("* Notice") == notice_letters.MOST_LINES
    assert text.count("* Other") == 5
    assert f"* and 175 more\n  {'https://leads.example.org/notices/?project=river'}" in text
    make.notice(project, "One more.")
    assert notice_letters.send() == 0
    _hours_pass()
    assert notice_letters.send() == 1
    assert (
        "One more." in mailbox.texts("alice@example.org")[1]
        and "Notice 1." not in mailbox.texts("alice@example.org")[1]
    )


def test_each_member_gets_what_they_may_see_and_want(project: Project, alice: Any, mailbox: Mailbox) -> None:
    people = {name: make.user(name, email=f"{name}@example.org") for name in ("rita", "mia", "eve", "out", "off")}
    make.member(project, people["rita"], "reader")
    make.member(project, people["mia"], "manager")
    make.member(project, make.user("nomail"), "owner")
    make.member(project, people["off"], "owner")
    people["out"].is_active = False
    people["out"].save()
    make.member(project, people["out"], "owner")
    make.notice(make.project(owner=people["eve"], name="Elsewhere"), "Not for River.")
    writing_notices.choose(people["off"], {"stuck": (True, False)})
    writing_notices.choose(people["mia"], {"stuck": (False, True)})
    make.notice(project, "For River.")
    notice_letters.send()
    got = {to[0]: read(letter) for to, letter in mailbox.letters}
    assert set(got) == {"alice@example.org", "rita@example.org", "mia@example.org", "eve@example.org"}
    assert {address for address, text in got.items() if "For River." in text} == set(got) - {"eve@example.org"}
    assert "Not for River." in got["eve@example.org"]


def test_who_left_or_lost_interest_after_the_letter_was_written_gets_none(
    project: Project, alice: Any, mailbox: Mailbox
) -> None:
    """Between writing and sending: a member is removed, a state ends, a project is archived, an address goes."""
    bob = make.user("bob", email="bob@example.org")
    make.member(project, bob, "reader")
    row = make.notice(project, is_event=False)
    notice_letters.plan()
    Membership.objects.filter(user=bob).delete()
    Notice.objects.update(ended_at=timezone.now())
    assert notice_letters.send() == 0
    assert set(NoticeLetter.objects.values_list("state", flat=True)) == {State.DROPPED}
    Notice.objects.filter(pk=row.pk).update(ended_at=None)
    _hours_pass()
    make.notice(project, "Later.")
    notice_letters.plan()
    Project.objects.update(archived_at=timezone.now())
    assert notice_letters.send() == 0
    assert mailbox.letters == []


def test_an_archived_project_and_one_without_a_server_send_nothing(
    project: Project, mailbox: Mailbox, settings: Any
) -> None:
    make.notice(project)
    settings.MAIL = False
    assert notice_letters.send() == 0
    settings.MAIL = True
    Project.objects.update(archived_at=timezone.now())
    assert notice_letters.send() == 0
    assert not NoticeLetter.objects.exists()


def test_names_from_data_begin_no_header_and_no_line(alice: Any, mailbox: Mailbox) -> None:
    evil = make.project(owner=alice, name="River\r\nBcc: victim@example.org\r\n\r\nHello", slug="evil")
    make.notice(evil, "rows\r\nSubject: bought.csv\u2028was not imported", more="a\nb\rc\x85d")
    notice_letters.send()
    [(to, letter)] = mailbox.letters
    assert to == ["alice@example.org"]
    assert letter["Bcc"] is None
    assert letter["Subject"] == "1 notice from River Bcc: victim@example.org Hello"
    assert "* rows Subject: bought.csv was not imported: a b c d\n" in read(letter)


def test_a_letter_that_is_refused_is_tried_six_times_and_holds_up_no_other(
    project: Project, alice: Any, mailbox: Mailbox
) -> None:
    bob = make.user("bob", email="bob@example.org")
    make.member(project, bob)
    mailbox.refused["alice@example.org"] = 99
    make.notice(project)
    assert notice_letters.send() == 1
    assert len(mailbox.texts("bob@example.org")) == 1
    for _ in range(10):
        _hours_pass()
        notice_letters.send()
    letter = NoticeLetter.objects.get(user=alice)
    assert (letter.state, letter.attempts) == (State.FAILED, notice_letters.ATTEMPTS)
    assert mailbox.refused["alice@example.org"] == 99 - notice_letters.ATTEMPTS
    assert notices.why_no_email(alice) == "The last e-mail to you could not be sent. The mail server refused it."
    assert len(mailbox.texts("bob@example.org")) == 1


def test_an_hour_lies_between_a_letter_that_was_tried_again_and_the_next(
    project: Project, mailbox: Mailbox, settings: Any
) -> None:
    settings.EMAIL_PORT = 9
    make.notice(project, "The first.")
    assert notice_letters.send() == 0
    make.notice(project, "The second.")
    _hours_pass()
    settings.EMAIL_PORT = mailbox.port
    assert notice_letters.send() == 1
    NoticeLetter.objects.update(sent_at=F("sent_at") - timedelta(minutes=59))
    assert notice_letters.send() == 0
    [text] = mailbox.texts("alice@example.org")
    assert "The first." in text and "The second." not in text
    NoticeLetter.objects.update(sent_at=F("sent_at") - timedelta(minutes=1))
    assert notice_letters.send() == 1
    assert "The second." in mailbox.texts("alice@example.org")[1]


def test_waits_between_attempts_grow(project: Project, mailbox: Mailbox) -> None:
    mailbox.refused["alice@example.org"] = 99
    make.notice(project)
    waits = []
    for _ in range(3):
        notice_letters.send()
        assert notice_letters.send() == 0
        letter = NoticeLetter.objects.get()
        assert letter.not_before
        waits.append(round((letter.not_before - timezone.now()).total_seconds() / 60))
        _hours_pass()
    assert (waits, mailbox.refused["alice@example.org"]) == ([1, 2, 4], 96)


def test_a_server_that_is_silent_is_asked_for_one_letter_and_the_others_wait(
    project: Project, mailbox: Mailbox, settings: Any
) -> None:
    for name in ("bob", "carl"):
        make.member(project, make.user(name, email=f"{name}@example.org"))
    make.notice(project)
    settings.EMAIL_PORT = 9
    assert notice_letters.send() == 0
    assert sorted(NoticeLetter.objects.values_list("attempts", flat=True)) == [0, 0, 1]
    settings.EMAIL_PORT = mailbox.port
    _hours_pass()
    assert notice_letters.send() == 3
    assert len({letter["Message-ID"] for _, letter in mailbox.letters}) == 3


def test_a_process_that_dies_after_the_server_took_the_letter_sends_it_again_with_the_same_id(
    project: Project, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    make.notice(project)
    send = EmailMessage.send

    def dies(self: EmailMessage, **more: Any) -> int:
        send(self, **more)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(EmailMessage, "send", dies)
        with pytest.raises(KeyboardInterrupt):
            notice_letters.send()
    assert notice_letters.send() == 0
    _attempts_are_due()
    assert notice_letters.send() == 1
    first, second = (letter["Message-ID"] for _, letter in mailbox.letters)
    assert (first == second, NoticeLetter.objects.count()) == (True, 1)


def test_the_database_lets_nobody_be_sent_a_notice_twice(project: Project, alice: Any) -> None:
    row = make.notice(project)
    for expected in (None, IntegrityError):
        letter = NoticeLetter.objects.create(user=alice, created_at=timezone.now())
        if expected:
            with pytest.raises(expected), transaction.atomic():
                LetterNotice.objects.create(letter=letter, notice=row, user=alice)
        else:
            LetterNotice.objects.create(letter=letter, notice=row, user=alice)


def test_old_notices_are_not_sent_to_an_address_that_comes_late_nor_what_was_before_a_member(
    project: Project, alice: Any, mailbox: Mailbox
) -> None:
    make.notice(project, "Old.", told_at=timezone.now() - timedelta(days=2))
    make.notice(project, "Recent.", told_at=timezone.now() - timedelta(minutes=1))
    late = make.user("late", email="late@example.org")
    make.member(project, late)
    Membership.objects.filter(user=alice).update(since=timezone.now() - timedelta(days=9))
    assert notice_letters.send() == 1
    [text] = mailbox.texts("alice@example.org")
    assert "Recent." in text and "Old." not in text


# The address


def _link(mailbox: Mailbox, address: str) -> str:
    text = mailbox.texts(address)[-1]
    return next(word for word in text.split() if "/notices/address/" in word).rstrip("/").rpartition("/")[2]


def test_an_address_is_the_persons_once_its_link_is_confirmed(alice: Any, mailbox: Mailbox) -> None:
    notice_addresses.ask(alice, "new@example.org")
    token = _link(mailbox, "new@example.org")
    alice.refresh_from_db()
    assert alice.email == "alice@example.org"
    with refused("no_link"):
        notice_addresses.confirm(make.user("eve"), token)
    with refused("no_link"):
        notice_addresses.confirm(alice, token[:-2])
    assert notice_addresses.confirm(alice, token) == "new@example.org"
    alice.refresh_from_db()
    assert alice.email == "new@example.org"
    with refused("no_link"):
        notice_addresses.confirm(alice, token)
    notice_addresses.remove(alice)
    notice_addresses.remove(alice)
    told = list(alice.account_actions.order_by("id").values_list("verb", "about"))
    assert told == [("changed the address", "new@example.org"), ("removed the address", "")]


def test_links_to_addresses_are_few_a_minute_and_go_to_addresses_alone(alice: Any, mailbox: Mailbox) -> None:
    for wrong in ("no address", "a@example.org\nBcc: b@example.org", f"{'a' * 60}@{'b.' * 120}org"):
        with refused("address_refused"):
            notice_addresses.ask(alice, wrong)
    for _ in range(notice_addresses.MOST_A_MINUTE):
        notice_addresses.ask(alice, "new@example.org")
    with refused("link_not_sent", match="a moment ago"):
        notice_addresses.ask(alice, "new@example.org")
    assert len(mailbox.texts("new@example.org")) == notice_addresses.MOST_A_MINUTE


def test_links_to_addresses_are_few_a_day(alice: Any, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notice_addresses, "MOST_A_MINUTE", 1000)
    for _ in range(notice_addresses.MOST_A_DAY):
        notice_addresses.ask(alice, "new@example.org")
    with refused("link_not_sent", match="try again tomorrow"):
        notice_addresses.ask(alice, "new@example.org")
    assert len(mailbox.texts("new@example.org")) == notice_addresses.MOST_A_DAY
    notice_addresses.ask(make.user("eve"), "eve@example.org")


# Any order of what happens, with interruptions

INTERRUPTED = ("dies writing", "dies planning", "dies sending", "dies after sending", "refused")
STEPS = st.lists(st.sampled_from(["low", "enough", "report", "report", "tell", *INTERRUPTED]), max_size=15)
LOW = "* Less than 10 % of the budget is left: "


class Interrupted(Exception):
    """A process that ends here."""


class AnyOrderTest(TestCase):
    """Letters are compared with what happened: no event is in two of them, and none is missing."""

    @hypothesis.settings(max_examples=hypothesis.settings().max_examples // 3)
    @example(["low", "tell", "enough", "low"])
    @example(["report", "refused", "low", "report"])
    @given(STEPS)
    def test_each_event_is_in_one_letter(self, steps: list[str]) -> None:
        backend = "django.core.mail.backends.locmem.EmailBackend"
        with self.settings(MAIL=True, EMAIL_BACKEND=backend), pytest.MonkeyPatch.context() as patch:
            patch.setattr(notice_letters, "LEAST_APART", timedelta(0))
            self._take(steps)

    def _take(self, steps: list[str]) -> None:
        mail.outbox = []
        stage = make.stage(
            make.project(owner=make.user(email="alice@example.org")),
            state=Stage.State.LIVE,
            summary={"items": 4, "open": 4},
        )
        account = Account.objects.filter(project=stage.project)
        reports, times_low, low, refusals = 0, 0, False, 0
        must_be_said, is_new = set(), True
        for step in [*steps, "tell"]:
            if step == "low" and not low:
                times_low += 1
            if step in ("low", "enough"):
                low = step == "low"
                # Whether somebody looked between two times: otherwise they are one.
                is_new = is_new and low
                # What is left tells one time from the next.
                account.update(budget=100, paid=Decimal(95) + Decimal(times_low) / 100 if low else 1)
            elif step == "report":
                reports += 1
                StageSummary.objects.filter(stage=stage).update(reported=reports)
            else:
                refusals += step in ("dies sending", "refused")
                # More often in a row, and a letter is given up: another test has that.
                _tell_members("tell" if refusals > 4 else step)
                if step == "tell":  # the first run may send what waits, which new notices let go first
                    _attempts_are_due()
                    _tell_members("tell")
                is_new = is_new or (step == "tell" and not low)
                if step == "tell" and low and is_new:
                    must_be_said.add(f"${5 - times_low / 100:.2f}")
                _attempts_are_due()
        lines = [line for letter in _once(mail.outbox) for line in letter.body.splitlines()]
        said = [line.removeprefix(LOW) for line in lines if line.startswith(LOW)]
        assert len(said) == len(set(said))
        assert must_be_said <= set(said)
        assert sum(int(line.split()[1]) for line in lines if "new report" in line) == reports
        assert not NoticeLetter.objects.filter(state=State.PLANNED).exists()


def _once(letters: list[EmailMessage]) -> list[EmailMessage]:
    """As a mail program shows them: of two letters with the same id, one."""
    return list({letter.extra_headers["Message-ID"]: letter for letter in letters}.values())


def _tell_members(step: str) -> None:
    """One run of the background job, which ends at a place."""

    def dies(*given: Any, **more: Any) -> Any:
        raise Interrupted

    def refused(*given: Any, **more: Any) -> Any:
        raise smtplib.SMTPDataError(451, b"Later")

    def dies_after(self: EmailMessage, **more: Any) -> Any:
        mail.outbox.append(self)
        raise Interrupted

    places: dict[str, tuple[Any, str, Any]] = {
        "dies writing": (Notice.objects, "bulk_create", dies),
        "dies planning": (LetterNotice.objects, "bulk_create", dies),
        "dies sending": (EmailMessage, "send", dies),
        "dies after sending": (EmailMessage, "send", dies_after),
        "refused": (EmailMessage, "send", refused),
    }
    with pytest.MonkeyPatch.context() as patch:
        if step in places:
            patch.setattr(*places[step])
        with suppress(Interrupted):
            tasks.tell_members()


def test_a_letter_that_waits_leaves_out_what_its_reader_no_longer_wants(
    project: Project, alice: Any, mailbox: Mailbox
) -> None:
    kept = make.notice(project, kind=Notice.Kind.BUDGET)
    make.notice(project, "It is stuck")
    notice_letters.plan()
    writing_notices.choose(alice, {Notice.Kind.STUCK: (True, False)})
    assert notice_letters.send() == 1
    [text] = mailbox.texts("alice@example.org")
    assert kept.words in text and "It is stuck" not in text
    _hours_pass()
    make.notice(project, kind=Notice.Kind.BUDGET)
    notice_letters.plan()
    writing_notices.choose(alice, {Notice.Kind.BUDGET: (True, False)})
    assert notice_letters.send() == 0
    assert NoticeLetter.objects.latest("pk").state == State.DROPPED
