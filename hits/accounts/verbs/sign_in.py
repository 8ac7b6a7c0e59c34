"""Tries of signing in on the requester's side; the scheme is that of `common.sign_in`."""

from __future__ import annotations

from datetime import timedelta
from math import ceil

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from common import patience
from common import sign_in as scheme
from common.addresses import client_address, network
from common.second_factor import device_of
from common.sign_in import Tries
from common.tries import Tried
from hits.accounts.verbs import second_factor
from hits.models import SignInTries
from hits.refusals import Refused

KNOWN = "annotate_known"


def tries(request: HttpRequest, username: str) -> Tries:
    """What one try of this visitor, with this name, counts for."""
    return scheme.sign_in_tries(username, place(request), scheme.known_device(request, KNOWN, username))


def seconds_to_wait(counted: Tries) -> int:
    """Count one try before it is made: 0, or count nothing and answer how long to wait."""
    now = timezone.now()
    until = SignInTries.objects.count_tries(counted, now)
    return 0 if until is None else ceil(max(timedelta(seconds=1), until - now).total_seconds())


def succeeded(counted: Tries) -> None:
    """A good password forgets the failures before it."""
    scheme.forgive(SignInTries.objects.all(), counted)


def remember_device(request: HttpRequest, response: HttpResponse, username: str) -> None:
    """This browser is known from now on: guesses from elsewhere do not make it wait."""
    scheme.remember_device(request, response, KNOWN, username)


def place(request: HttpRequest) -> str:
    """The network that the visitor comes from, as far as the proxies of ours know it."""
    forwarded = request.headers.get("X-Forwarded-For", "").split(",")
    return network(client_address(request.META.get("REMOTE_ADDR", ""), forwarded, settings.PROXIES))


def code_tries(user: User) -> Tries:
    """Tries of a code, on whichever page and in the API: whoever makes them knows the password."""
    return {Tried("code", str(user.pk)): patience.PASSWORD}


def letter_tries(request: HttpRequest, email: str) -> Tries:
    """Letters to one address, whether somebody has it or not, and letters asked for from one place."""
    return {
        Tried("letter to", email.strip().lower()): patience.LETTER,
        Tried("letter from", place(request)): patience.LETTERS_FROM_ADDRESS,
    }


def lacks_second_factor(request: HttpRequest) -> str:
    """What this session, in which somebody is signed in, needs first: a "code", a "set-up", or nothing.

    A code where the factor was set up elsewhere after this session began.
    """
    if request.user.is_verified():  # type: ignore[union-attr]  # by django_otp's middleware
        return ""
    if device_of(request.user):
        return "code"
    return "set-up" if settings.REQUIRE_SECOND_FACTOR else ""


def password_tries(user: User) -> Tries:
    """Tries of the present password inside a session, as before it is changed."""
    return {Tried("password", str(user.pk)): patience.PASSWORD}


def confirm_owner(user: User, password: str, code: str) -> None:
    """Before what recovery uses is changed: the password, and a code where a second factor is on.

    Raises Refused (not_confirmed). The password is looked at first, for a code is used up once it was asked about.
    """
    counted = {**password_tries(user), **(code_tries(user) if device_of(user) else {})}
    if wait := seconds_to_wait(counted):
        raise Refused(
            "too_many_tries",
            f"Too many tries. Try again in {wait} second{'' if wait == 1 else 's'}.",
            field="password",
            status=429,
        )
    if not user.check_password(password):
        raise Refused(
            "not_confirmed", "This is not your present password. Nothing was changed.", field="password", status=403
        )
    if device_of(user) and not second_factor.accept(user, code):
        raise Refused(
            "not_confirmed",
            "This code is wrong, or was used before. Wait for the next one of the app. Nothing was changed.",
            field="password",
            status=403,
        )
    succeeded(counted)


def invitation_tries(pk: int) -> Tries:
    """Forms of a new account that are sent back tell which names are taken: they are slowed down by invitation."""
    return {Tried("invitation", str(pk)): patience.SIGN_UP_SLIPS}
