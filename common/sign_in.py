"""Signing in: whose failures are counted together, and which browsers are known.

A browser that has signed in before carries a signed cookie and is counted by itself: somebody who keeps guessing a
name from elsewhere makes its owner wait on new devices only.
"""

from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import make_password
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.http import url_has_allowed_host_and_scheme

from common import patience
from common.names import name_key, plain_name
from common.patience import Patience
from common.tries import Tried, TriesQuerySet

KNOWN_SECONDS = 365 * 24 * 3600
Tries = dict[Tried, Patience]


class NameBackend(ModelBackend):
    """Django's own backend, for any spelling of a name: as it is stored, or else the only one that differs by case."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **more: Any
    ) -> Any:
        return super().authenticate(
            request, stored_name(username or "") or plain_name(username or ""), password, **more
        )


def stored_name(name: str) -> str | None:
    """The name of the account that this spelling means, as it is stored; None when it means none."""
    plain, users = plain_name(name), get_user_model().objects
    if "\x00" in plain:
        return None
    if users.filter(username=plain).exists():
        return plain
    alike = list(users.filter(username__iexact=plain).values_list("username", flat=True)[:2])
    return str(alike[0]) if len(alike) == 1 else None


def _account(name: str) -> str:
    """What tries are counted under: all spellings of one account, and never two accounts together.

    Names such as jessica and jeßica have one key and may be two accounts: if they shared their counts, the owner of one
    could guess the other's password and have the failures forgotten by signing in.
    """
    stored = stored_name(name)
    return f"nobody\n{name_key(name)}" if stored is None else f"account\n{stored}"


def known_device(request: HttpRequest, cookie: str, username: str) -> str:
    """The id of a browser in which this name has signed in before; empty for any other."""
    try:
        value = str(request.get_signed_cookie(cookie, salt=cookie, max_age=KNOWN_SECONDS))
    except (KeyError, signing.BadSignature):
        return ""
    key, _, device = value.partition(".")
    return device if key == Tried("known", _account(username)).key else ""


def remember_device(request: HttpRequest, response: HttpResponse, cookie: str, username: str) -> None:
    """Give the browser its cookie, after a good sign-in."""
    device = known_device(request, cookie, username) or secrets.token_urlsafe(12)
    value = f"{Tried('known', _account(username)).key}.{device}"
    secure = settings.SESSION_COOKIE_SECURE
    response.set_signed_cookie(
        cookie, value, salt=cookie, max_age=KNOWN_SECONDS, httponly=True, secure=secure, samesite="Lax"
    )


def sign_in_tries(username: str, place: str, device: str) -> Tries:
    """What one try counts for. `place` is a network (common.addresses); `device` is empty for an unknown browser."""
    name = _account(username)
    if device:
        return {Tried("sign in on device", f"{name}\n{device}"): patience.SIGN_IN}
    return {
        Tried("sign in", f"{name}\n{place}"): patience.SIGN_IN,
        Tried("sign in as", name): patience.SIGN_IN_AS_NAME,
        Tried("sign in from", place): patience.SIGN_IN_FROM_ADDRESS,
    }


def forgive(table: TriesQuerySet, tries: Tries) -> None:
    """A good password forgets the failures, except those of other names from the same address."""
    for tried in tries:
        if tried.what == "sign in from":
            table.take_back(tried)
        else:
            table.forgive(tried)


def wanted_address(request: HttpRequest, otherwise: str = "") -> str:
    """Where to go on to after signing in, as the page or form names it in `next`: only within this site."""
    wanted = request.POST.get("next") or request.GET.get("next", "")
    safe = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure())
    return wanted if safe else otherwise


def new_account(username: str, password: str, email: str = "") -> Any:
    """An account that is not saved yet.

    Hashing a password takes long, on purpose: so it is done before a transaction begins, which would keep every other
    writer of a SQLite database waiting.
    """
    users = get_user_model()
    return users(
        username=users.normalize_username(username),
        email=users.objects.normalize_email(email),
        password=make_password(password),
    )
