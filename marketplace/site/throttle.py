"""Whose tries are counted together. The counts are in the database, so that every process sees them."""

from datetime import timedelta
from math import ceil

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from common import patience as rules
from common import sign_in as signing_in
from common.addresses import client_address, network
from common.configuration import is_home
from common.sign_in import Tries
from common.tries import Tried
from marketplace.models import Attempts, Worker
from marketplace.rules.addresses import email_key
from marketplace.rules.errors import TooManyAttempts
from marketplace.site import words
from marketplace.site.pages import problem
from marketplace.verbs import attempts, clock

KNOWN = "marketplace_known"


def address(request: HttpRequest) -> str:
    """Where the visitor comes from, as far as the proxies of ours know it."""
    forwarded = request.headers.get("X-Forwarded-For", "").split(",")
    return network(client_address(request.META.get("REMOTE_ADDR", ""), forwarded, settings.MARKETPLACE_PROXIES))


def remember_device(request: HttpRequest, response: HttpResponse, username: str) -> None:
    """Give the browser its cookie, after a good sign-in."""
    signing_in.remember_device(request, response, KNOWN, username)


def sign_in(request: HttpRequest, username: str) -> Tries:
    device = signing_in.known_device(request, KNOWN, username)
    return signing_in.sign_in_tries(username, address(request), device)


def signed_in(tries: Tries) -> None:
    """A good password forgets the failures, except those of other names from the same address."""
    signing_in.forgive(Attempts.objects.all(), tries)


def sign_up(request: HttpRequest) -> Tries:
    """Nothing to count on a laptop: programs that play workers sign up there by the dozen."""
    place = address(request)
    return {} if _at_home(place) else {Tried("sign up", place): rules.SIGN_UP}


def sign_up_slip(request: HttpRequest) -> Tries:
    """Counted before a form goes back, so that nobody asks through it who has an account."""
    place = address(request)
    return {} if _at_home(place) else {Tried("sign up slip", place): rules.SIGN_UP_SLIPS}


def _at_home(place: str) -> bool:
    return is_home(settings.MARKETPLACE_PUBLIC_URL) and place in (network("127.0.0.1"), network("::1"))


def letter(request: HttpRequest, email: str) -> Tries:
    return {
        Tried("letter to", email_key(email)): rules.LETTER,
        Tried("letter from", address(request)): rules.LETTERS_FROM_ADDRESS,
    }


def password(worker: Worker) -> Tries:
    return {Tried("password", worker.worker_id): rules.PASSWORD}


def operator_password(operator: User) -> Tries:
    return {Tried("operator password", str(operator.pk)): rules.PASSWORD}


def operator_code(operator: User) -> Tries:
    return {Tried("operator code", str(operator.pk)): rules.PASSWORD}


def panel(request: HttpRequest) -> Tries:
    return {Tried("panel", address(request)): rules.PANEL_FROM_ADDRESS}


def pool(request: HttpRequest) -> Tries:
    return {Tried("pool", address(request)): rules.PANEL_FROM_ADDRESS}


def count(tries: Tries, back_url: str = "") -> None:
    """Count one try under each. Call it before the try is made. Raises TooManyAttempts, which the guard answers with a
    page that leads to `back_url`, or to the page of the try.
    """
    if tries:
        attempts.count(tries, clock.now(), back_url)


def too_many(request: HttpRequest, refusal: TooManyAttempts, worker: Worker | None = None) -> HttpResponse:
    """The page that says when to try again."""
    wait = max(timedelta(seconds=1), refusal.until - clock.now())
    seconds = ceil(wait.total_seconds())
    response = problem(
        request,
        429,
        _("Too many tries"),
        _("Try again in %(time)s. Nothing is lost, and nothing was changed.") % {"time": words.span(seconds)},
        worker,
        back_url=refusal.back_url or request.get_full_path(),
        back_label=_("Back"),
    )
    response["Retry-After"] = str(seconds)
    return response
