"""E-mails about an account: written as rows, sent by the clock, so that no page waits for a mail server.

An answer that takes as long for an unknown address as for a known one also tells nobody who has an account.
"""

import logging
from datetime import datetime, timedelta

from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend

from marketplace.models import Letter, Worker

log = logging.getLogger(__name__)
ATTEMPTS = 6
_RETRY = timedelta(minutes=1)


def write(worker: Worker, address: str, subject: str, text: str, now: datetime) -> Letter:
    """Leave a letter to be sent; part of the caller's transaction where there is one."""
    return Letter.objects.create(worker=worker, address=address, subject=subject, text=text, due_at=now)


def send_due(now: datetime, limit: int = 50) -> int:
    """Send what is due, each claimed first; how many left.

    What fails is tried again after 1, 2, 4 ... minutes, six times in all, and is then given up.
    """
    rows = list(Letter.objects.filter(due_at__lte=now).order_by("due_at")[:limit])
    if not rows:
        return 0
    mailbox = get_connection()
    return sum(_send_once(row, mailbox, now) for row in rows)


def _send_once(letter: Letter, mailbox: BaseEmailBackend, now: datetime) -> int:
    mine = Letter.objects.filter(pk=letter.pk, due_at=letter.due_at)
    if mine.update(due_at=now + _RETRY * 2**letter.attempts, attempts=letter.attempts + 1) != 1:
        return 0
    try:
        mailbox.send_messages([EmailMessage(letter.subject, letter.text, to=[letter.address])])
    except (OSError, ValueError) as error:
        # smtplib's errors are OSErrors; an address that no header can carry is a ValueError. It stays out of the log.
        log.warning("Letter %s could not be sent: %s", letter.pk, type(error).__name__)
        if letter.attempts + 1 >= ATTEMPTS:
            Letter.objects.filter(pk=letter.pk).delete()
        return 0
    Letter.objects.filter(pk=letter.pk).delete()
    return 1
