"""Ten wrong passwords for one name from one address, then a pause."""

from hashlib import sha256

from django.core.cache import cache
from django.http import HttpRequest

ALLOWED_FAILURES = 10
PAUSE_SECONDS = 600


def _key(request: HttpRequest, username: str) -> str:
    who = f"{username.lower()}\n{request.META.get('REMOTE_ADDR', '')}"
    return "site:login:" + sha256(who.encode()).hexdigest()


def is_paused(request: HttpRequest, username: str) -> bool:
    return cache.get(_key(request, username), 0) >= ALLOWED_FAILURES


def record_failure(request: HttpRequest, username: str) -> None:
    """Count a failure; the pause ends PAUSE_SECONDS after the first of them."""
    key = _key(request, username)
    cache.add(key, 0, PAUSE_SECONDS)
    try:
        cache.incr(key)
    except ValueError:
        # It ran out between the two calls.
        cache.set(key, 1, PAUSE_SECONDS)


def forget_failures(request: HttpRequest, username: str) -> None:
    cache.delete(_key(request, username))
