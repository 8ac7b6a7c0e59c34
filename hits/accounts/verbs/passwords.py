"""New accounts, and their passwords: changed, or set by a link where there is none or it was forgotten.

Security behavior: a link is Django's: signed, good once, and at an end after 72 hours, with the next sign-in
or with another password. Nobody learns from what is answered whether an address belongs to an account: the letters are
sent by a job, after the answer.
"""

from __future__ import annotations

import logging

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.db import transaction
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from common.names import name_fault, plain_name
from hits.core.action_log import record_account
from hits.refusals import Refused

log = logging.getLogger(__name__)


def create_account(name: str, email: str, password: str = "") -> User:
    """An account under the plain spelling of the name; without a password a link sets one.

    Raises Refused (account).
    """
    account = User(username=plain_name(name), email=User.objects.normalize_email(email))
    if fault := name_fault(account.username):
        raise Refused("account", fault, status=400)
    if User.objects.filter(username__iexact=account.username).exists():
        raise Refused("account", f"There is a user {account.username} already; choose another name.", status=400)
    try:
        account.clean_fields(exclude=["password"])
        if password:
            validate_password(password, account)
    except ValidationError as error:
        raise Refused("account", " ".join(error.messages), status=400) from error
    # Before the transaction, for it takes long.
    account.password = make_password(password or None)
    with transaction.atomic():
        account.save()
        record_account(account, None, "made the account")
    return account


def change(account: User, password: str) -> None:
    """A new password, which the caller has checked: sessions and API tokens end with the old one."""
    _save(account, password, "changed the password")


def set_by_link(account: User, password: str) -> None:
    """The password that whoever had the link chose, which the caller has checked."""
    _save(account, password, "set a password by a link")


def _save(account: User, password: str, verb: str) -> None:
    account.set_password(password)
    with transaction.atomic():
        account.save()
        record_account(account, account, verb)


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
