"""The address to which a person's notices are sent.

Security behavior: it becomes the person's when a link that was sent to it is opened and confirmed by the same person,
who is signed in. So nobody has letters sent to a stranger. The link is signed, ends after two days, and ends when the
address or the password changes. A forgotten password is sent to this address, so callers first ask for the password
(`hits.accounts.verbs.sign_in.confirm_owner`), and the address before hears of it.
"""

from __future__ import annotations

import logging

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.core.validators import validate_email
from django.db import transaction
from django.urls import reverse

from hits.core.action_log import record_account
from hits.core.rate_limits import allow
from hits.refusals import Refused

log = logging.getLogger(__name__)
SALT = "hits.notices.address"
LINK_SECONDS = 2 * 24 * 3600
LONGEST_ADDRESS = 254
# Links that one person may have sent: strangers read them too.
MOST_A_MINUTE, MOST_A_DAY = 2, 10
DAY_SECONDS = 24 * 3600


def ask(user: User, address: str) -> None:
    """Send a link to the address. Not within a transaction. Raises Refused (address_refused, link_not_sent)."""
    _check(address)
    if not settings.MAIL:
        raise Refused("link_not_sent", "This installation has no mail server. Nothing was changed.")
    name = f"notice-address:{user.pk}"
    if not allow(name, MOST_A_MINUTE):
        raise Refused("link_not_sent", "Links were sent a moment ago. Look for them, or try again in a minute.")
    if not allow(name, MOST_A_DAY, seconds=DAY_SECONDS):
        raise Refused("link_not_sent", f"{MOST_A_DAY} links were sent today. Look for them, or try again tomorrow.")
    token = signing.dumps([user.pk, user.email, _password_of(user), address], salt=SALT)
    link = settings.PUBLIC_URL + reverse("notice-address", args=[token])
    text = (
        f"Somebody with the account {user.get_username()} wants to get notices about projects at this address.\n\n"
        f"{link}\n\nOpen the link and confirm it within two days. Without that nothing is sent here."
    )
    try:
        send_mail("Confirm your address for notices", text, None, [address])
    except (OSError, ValueError) as error:
        log.exception("A link to confirm an address could not be sent")
        raise Refused("link_not_sent", "The link could not be sent. Check the address, or try again later.") from error
    if user.email != address:
        _warn(user, "asked for notices and links for a new password to be sent to another address")


def _warn(user: User, what: str) -> None:
    """The address of before hears of it, where there is one."""
    if not (user.email and settings.MAIL):
        return
    text = (
        f"Somebody signed in as {user.get_username()} {what}.\n\nIf it was not you, change your password now: a change "
        f"that was not confirmed ends with it.\n\n{settings.PUBLIC_URL}{reverse('account')}"
    )
    try:
        send_mail("Your address is changed", text, None, [user.email])
    except (OSError, ValueError):
        log.exception("An address could not be told of its change")


def _password_of(user: User) -> str:
    """Another word after each change of the password."""
    return user.get_session_auth_hash()[:16]


def _no_link() -> Refused:
    message = (
        "This link cannot be used: it was used, is older than two days, belongs to another account, or your "
        "password was changed since. Enter the address again to get another one."
    )
    return Refused("no_link", message, status=404)


def find(user: User, token: str) -> str:
    """The address that the link is for. Raises Refused (no_link)."""
    try:
        pk, before, password, address = signing.loads(token, salt=SALT, max_age=LINK_SECONDS)
    except (signing.BadSignature, ValueError) as error:
        raise _no_link() from error
    if (pk, before, password) != (user.pk, user.email, _password_of(user)):
        raise _no_link()
    return str(address)


@transaction.atomic
def confirm(user: User, token: str) -> str:
    """Make the address the person's. Raises Refused (no_link)."""
    address = find(user, token)
    if User.objects.filter(pk=user.pk, email=user.email).update(email=address) != 1:
        raise _no_link()
    record_account(user, user, "changed the address", address)
    return address


def remove(user: User) -> None:
    """No letters go out any more. Not within a transaction."""
    with transaction.atomic():
        removed = User.objects.filter(pk=user.pk).exclude(email="").update(email="")
        if removed:
            record_account(user, user, "removed the address")
    if removed:
        _warn(user, "removed this address from the account")


def set_by_administrator(user: User, address: str) -> None:
    """Without a link: whoever runs commands on the server may. Raises Refused (address_refused)."""
    _check(address)
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(email=address)
        record_account(user, None, "changed the address", address)


def _check(address: str) -> None:
    try:
        validate_email(address)
    except ValidationError as error:
        raise Refused("address_refused", "This is no e-mail address. Nothing was changed.", status=400) from error
    if len(address) > LONGEST_ADDRESS:
        raise Refused(
            "address_refused", f"An address has at most {LONGEST_ADDRESS} characters. Nothing was changed.", status=400
        )
