"""Notices by e-mail: one letter to a person about all that is new, and no more than one an hour.

A letter is a row with its notices before the mail server is asked, and the constraint on these rows lets nobody be sent
a notice twice. What fails is tried again a bounded number of times. A mail server takes no token: where a process dies
between the server's yes and its note of it, the letter goes out again, with the same Message-ID.
"""

from __future__ import annotations

import logging
import smtplib
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.urls import reverse
from django.utils import timezone

from hits.core.jobs.leases import Held, lease
from hits.core.jobs.outbox import is_due
from hits.models import LetterNotice, Notice, NoticeChoice, NoticeLetter
from hits.notifications.rules.notices import in_full, one_line, standing

log = logging.getLogger(__name__)
State = NoticeLetter.State
LEASE_SECONDS = 60
# Of two letters to one person.
LEAST_APART = timedelta(hours=1)
# Older notices are on the page; whoever sets an address is not sent what was.
RECENT = timedelta(days=1)
# Lines about one project in one letter; the page has all.
MOST_LINES = 20
ATTEMPTS = 6
RETRY = timedelta(minutes=1)
LONGEST_NAME = 60


# Plan


def send() -> int:
    """Write down the letters that are due, and send what waits; how many went out. One process at a time."""
    if not settings.MAIL:
        return 0
    with lease("notice-letters", seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        plan()
        return _send_waiting(held)


@transaction.atomic
def plan() -> int:
    """A letter for each person with notices that no letter to them has; how many. The caller holds the lease."""
    now = timezone.now()
    by_user: defaultdict[int, list[int]] = defaultdict(list)
    for user, notice in _untold(now):
        by_user[user].append(notice)
    for user, notices in by_user.items():
        letter = NoticeLetter.objects.create(user_id=user, created_at=now)
        LetterNotice.objects.bulk_create(
            [LetterNotice(letter=letter, notice_id=notice, user_id=user) for notice in notices], batch_size=200
        )
    return len(by_user)


def _untold(now: datetime) -> list[tuple[int, int]]:
    """(person, notice), by what each may see and wants, of those who can be written to now."""
    user = "project__memberships__user"
    found = standing().filter(
        **{f"{user}__is_active": True}, told_at__gt=now - RECENT, ended_at=None, project__memberships__isnull=False
    )
    # The annotations read the membership that the filter found.
    found = found.annotate(
        reader=F(user), since=F("project__memberships__since"), mail_address=F(f"{user}__email")
    ).filter(told_at__gte=F("since"))
    told = LetterNotice.objects.filter(user=OuterRef("reader"), notice=OuterRef("pk"))
    # One that waits for another attempt goes out first: it may come long after it was written.
    too_soon = Q(created_at__gt=now - LEAST_APART) | Q(sent_at__gt=now - LEAST_APART) | Q(state=State.PLANNED)
    lately = NoticeLetter.objects.filter(too_soon, user=OuterRef("reader"))
    found = (
        found.exclude(mail_address="").exclude(_off(OuterRef("reader"))).exclude(Exists(told)).exclude(Exists(lately))
    )
    return list(found.order_by("reader", "told_at", "pk").values_list("reader", "pk"))


def _off(user: User | OuterRef) -> Exists:
    """Whether the person wants no letters about notices of this kind."""
    return Exists(NoticeChoice.objects.filter(user=user, kind=OuterRef("kind"), by_email=False))


# Send


def _send_waiting(held: Held) -> int:
    """Each letter that is due once, until the mail server does not answer at all: then the others wait."""
    waiting = NoticeLetter.objects.filter(is_due(), state=State.PLANNED)
    sent = 0
    for letter in waiting.select_related("user").order_by("pk"):
        held.renew()
        try:
            sent += _send_one(letter)
        except OSError:
            break
    return sent


def _send_one(letter: NoticeLetter) -> int:
    """Raises OSError when there is no mail server, after the row says so."""
    mine = NoticeLetter.objects.filter(pk=letter.pk, state=State.PLANNED, attempts=letter.attempts)
    message, now = _message(letter), timezone.now()
    if message is None or letter.attempts >= ATTEMPTS:
        mine.update(state=State.FAILED if message else State.DROPPED)
        return 0
    # Committed before the call, so that a letter is tried so often and no oftener, whatever dies meanwhile.
    again = now + RETRY * 2**letter.attempts
    claimed = mine.update(attempts=F("attempts") + 1, not_before=again, attempted_at=letter.attempted_at or now)
    if claimed != 1:
        return 0
    mine = NoticeLetter.objects.filter(pk=letter.pk)
    try:
        message.send()
    except (smtplib.SMTPResponseException, smtplib.SMTPRecipientsRefused, ValueError) as error:
        _failed(letter, "The mail server refused it.", error)
        return 0
    except OSError as error:
        _failed(letter, "The mail server did not answer.", error)
        raise
    return mine.update(state=State.SENT, sent_at=timezone.now(), error="")


def _failed(letter: NoticeLetter, sentence: str, error: Exception) -> None:
    # The address stays out of the log.
    log.warning("The letter %s with notices could not be sent: %s", letter.pk, type(error).__name__)
    state = State.FAILED if letter.attempts + 1 >= ATTEMPTS else State.PLANNED
    NoticeLetter.objects.filter(pk=letter.pk).update(state=state, error=sentence)


def _message(letter: NoticeLetter) -> EmailMessage | None:
    """What the person may still see of the letter's notices, and still wants; None when that is nothing."""
    user = letter.user
    notices = list(
        standing()
        .filter(letters=letter, ended_at=None, project__memberships__user=user)
        .exclude(_off(user))
        .select_related("project")
        .order_by("project__name", "project_id", "told_at", "pk")
    )
    if not notices or not user.email or not user.is_active:
        return None
    host = settings.PUBLIC_URL.partition("//")[2].partition(":")[0].partition("/")[0]
    headers = {"Message-ID": f"<notices.{letter.pk}.{letter.created_at:%Y%m%d%H%M%S}@{host}>"}
    return EmailMessage(
        _subject(notices), _text(notices), to=[user.email], headers={**headers, "Auto-Submitted": "auto-generated"}
    )


def _subject(notices: Sequence[Notice]) -> str:
    names = {notice.project_id: one_line(notice.project.name) for notice in notices}
    number = f"{len(notices)} notice{'' if len(notices) == 1 else 's'}"
    if len(names) > 1:
        return f"{number} from {len(names)} projects"
    return f"{number} from {next(iter(names.values()))[:LONGEST_NAME]}"


def _text(notices: Sequence[Notice]) -> str:
    page = settings.PUBLIC_URL + reverse("notices")
    parts = []
    for project, rows in groupby(notices, key=lambda notice: notice.project):
        own = list(rows)
        lines = [one_line(project.name), ""]
        lines += [f"* {in_full(row)}\n  {settings.PUBLIC_URL}{row.address}" for row in own[:MOST_LINES]]
        if len(own) > MOST_LINES:
            lines.append(f"* and {len(own) - MOST_LINES:,} more\n  {page}?project={project.slug}")
        parts.append("\n".join(lines))
    end = (
        "You get this as a member of the project. There is one e-mail an hour at most. Say on this page which notices "
        f"you want by e-mail:\n{page}"
    )
    return "\n\n".join([*parts, "-- ", end])
