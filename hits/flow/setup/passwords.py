"""Setting a password by a link: of a new account, and of one whose password was forgotten.

Security behavior: a link is Django's: signed, good once, and at an end after PASSWORD_LINK_HOURS, with the next sign-in
or with another password. Nobody learns from what is answered whether an address belongs to an account: the letters are
sent by a job, after the answer.
"""

from __future__ import annotations

import logging

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import send_mail
from django.db import transaction
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from hits.domain.action_log import record_account

log = logging.getLogger(__name__)


def create_account(username: str, email: str, password: str = "") -> User:
    """An account; without a password a link sets one. The caller has checked all three."""
    with transaction.atomic():
        account = User.objects.create_user(username, email, password or None)
        record_account(account, None, "made the account")
    return account


def link(account: User) -> str:
    """A new one; those before stay good until one is used."""
    uid = urlsafe_base64_encode(force_bytes(account.pk))
    token = default_token_generator.make_token(account)
    return settings.PUBLIC_URL + reverse("set-password", args=[uid, token])


def send(account: User) -> bool:
    """Send a link to the account's address; whether it was sent. Not within a transaction."""
    if not account.email or not settings.MAIL:
        return False
    hours = settings.PASSWORD_RESET_TIMEOUT // 3600
    text = (
        f"With this link the account {account.get_username()} gets a password.\n\n{link(account)}\n\n"
        f"It is good once, for {hours} hours. Without it nothing happens: who did not ask need do nothing."
    )
    try:
        return bool(send_mail("Set your password", text, None, [account.email]))
    except (OSError, ValueError):
        # ValueError: a domain that has no spelling in ASCII.
        log.exception("The link for account %s could not be sent", account.pk)
        return False


def send_to_address(email: str) -> int:
    """Send a link to each account with this address; how many were sent."""
    found = User.objects.filter(email__iexact=email, is_active=True).exclude(email="")
    # Databases differ in what they take for the same letter: only the same address counts.
    return sum(send(account) for account in found if account.email.lower() == email.lower())
