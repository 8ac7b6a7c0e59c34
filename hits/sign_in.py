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
from common.sign_in import Tries
from common.tries import Tried
from hits.models import SignInTries

KNOWN = "annotate_known"


def tries(request: HttpRequest, username: str) -> Tries:
    """What one try of this visitor, with this name, counts for."""
    forwarded = request.headers.get("X-Forwarded-For", "").split(",")
    place = network(client_address(request.META.get("REMOTE_ADDR", ""), forwarded, settings.PROXIES))
    return scheme.sign_in_tries(username, place, scheme.known_device(request, KNOWN, username))


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


def password_tries(user: User) -> Tries:
    """Tries of the present password inside a session, as before it is changed."""
    return {Tried("password", str(user.pk)): patience.PASSWORD}


def invitation_tries(pk: int) -> Tries:
    """Forms of a new account that are sent back tell which names are taken: they are slowed down by invitation."""
    return {Tried("invitation", str(pk)): patience.SIGN_UP_SLIPS}
