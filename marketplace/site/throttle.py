"""Whose tries are counted together. The counts are in the database, so that every process sees them.

A browser that has signed in before carries a signed cookie and is counted by itself: somebody who
keeps guessing a name from elsewhere makes its owner wait on new devices only.
"""

import secrets
from datetime import timedelta
from math import ceil
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.http import HttpRequest, HttpResponse

from marketplace.models import Worker
from marketplace.rules import attempts as rules
from marketplace.rules.addresses import client_address, email_key, network
from marketplace.rules.attempts import Patience
from marketplace.rules.errors import TooManyAttempts
from marketplace.site import words
from marketplace.site.pages import problem
from marketplace.verbs import attempts, clock
from marketplace.verbs.attempts import Tried

KNOWN = "marketplace_known"
_KNOWN_SECONDS = 365 * 24 * 3600
Tries = dict[Tried, Patience]


def address(request: HttpRequest) -> str:
    """Where the visitor comes from, as far as the proxies of ours know it."""
    forwarded = request.headers.get("X-Forwarded-For", "").split(",")
    return network(client_address(request.META.get("REMOTE_ADDR", ""), forwarded, settings.MARKETPLACE_PROXIES))


def _name(username: str) -> str:
    return username.strip().casefold()


def _known_device(request: HttpRequest, username: str) -> str:
    """The id of a browser in which this name has signed in before; empty for any other."""
    try:
        cookie = str(request.get_signed_cookie(KNOWN, salt=KNOWN, max_age=_KNOWN_SECONDS))
    except (KeyError, signing.BadSignature):
        return ""
    name_key, _, device = cookie.partition(".")
    return device if name_key == Tried("known", _name(username)).key else ""


def remember_device(request: HttpRequest, response: HttpResponse, username: str) -> None:
    """Give the browser its cookie, after a good sign-in."""
    device = _known_device(request, username) or secrets.token_urlsafe(12)
    value = f"{Tried('known', _name(username)).key}.{device}"
    secure = settings.SESSION_COOKIE_SECURE
    response.set_signed_cookie(
        KNOWN, value, salt=KNOWN, max_age=_KNOWN_SECONDS, httponly=True, secure=secure, samesite="Lax"
    )


def sign_in(request: HttpRequest, username: str) -> Tries:
    name, place = _name(username), address(request)
    if device := _known_device(request, username):
        return {Tried("sign in on device", f"{name}\n{device}"): rules.SIGN_IN}
    return {
        Tried("sign in", f"{name}\n{place}"): rules.SIGN_IN,
        Tried("sign in as", name): rules.SIGN_IN_AS_NAME,
        Tried("sign in from", place): rules.SIGN_IN_FROM_ADDRESS,
    }


def signed_in(tries: Tries) -> None:
    """A good password forgets the failures, except those of other names from the same address."""
    for tried in tries:
        if tried.what == "sign in from":
            attempts.take_back(tried)
        else:
            attempts.forgive(tried)


def sign_up(request: HttpRequest) -> Tries:
    """Nothing to count on a laptop: programs that play workers sign up there by the dozen."""
    place = address(request)
    return {} if _at_home(place) else {Tried("sign up", place): rules.SIGN_UP}


def sign_up_slip(request: HttpRequest) -> Tries:
    """Counted before a form goes back, so that nobody asks through it who has an account."""
    place = address(request)
    return {} if _at_home(place) else {Tried("sign up slip", place): rules.SIGN_UP_SLIPS}


def _at_home(place: str) -> bool:
    public = urlsplit(settings.MARKETPLACE_PUBLIC_URL).hostname
    return public in settings.LOOPBACK_HOSTS and place in (network("127.0.0.1"), network("::1"))


def letter(request: HttpRequest, email: str) -> Tries:
    return {
        Tried("letter to", email_key(email)): rules.LETTER,
        Tried("letter from", address(request)): rules.LETTERS_FROM_ADDRESS,
    }


def password(worker: Worker) -> Tries:
    return {Tried("password", worker.worker_id): rules.PASSWORD}


def operator_password(operator: User) -> Tries:
    return {Tried("operator password", str(operator.pk)): rules.PASSWORD}


def panel(request: HttpRequest) -> Tries:
    return {Tried("panel", address(request)): rules.PANEL_FROM_ADDRESS}


def count(tries: Tries) -> None:
    """Count one try under each; raises TooManyAttempts. Call it before the try is made."""
    if tries:
        attempts.count(tries, clock.now())


def too_many(
    request: HttpRequest, refusal: TooManyAttempts, back_url: str, worker: Worker | None = None
) -> HttpResponse:
    """The page that says when to try again."""
    wait = max(timedelta(seconds=1), refusal.until - clock.now())
    seconds = ceil(wait.total_seconds())
    response = problem(
        request,
        429,
        "Too many tries",
        f"Try again in {words.span(seconds)}. Nothing is lost, and nothing was changed.",
        worker,
        back_url=back_url,
        back_label="Back",
    )
    response["Retry-After"] = str(seconds)
    return response
