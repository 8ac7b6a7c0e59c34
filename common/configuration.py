"""What a configuration must not hold where strangers can reach it."""

from __future__ import annotations

from urllib.parse import urlsplit

from common.addresses import is_loopback

SHORTEST_SECRET = 32
FEWEST_CHARACTERS = 10
# Keys that stand in this repository, where anybody can read them.
PUBLISHED = frozenset(
    {
        "only-for-tests-only-for-tests-only-for-tests",
        "a-key-for-tests-only-0123456789abcdef",
    }
)


def is_home(address: str) -> bool:
    """Whether the address of a site is reached from its own machine alone."""
    return is_loopback(urlsplit(address).hostname or "")


def secret_fault(name: str, secret: str, public_url: str) -> str:
    """What is wrong with the variable `name`, as a sentence that says what to do; empty when nothing is.

    `public_url` is the address under which browsers reach the site. The secret itself is never repeated.
    """
    how = "Make one: python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"
    if len(secret) < SHORTEST_SECRET:
        return f"{name} needs at least {SHORTEST_SECRET} characters. {how}"
    if len(set(secret)) < FEWEST_CHARACTERS:
        return f"{name} repeats a few characters, so it can be guessed. {how}"
    if secret in PUBLISHED and not is_home(public_url):
        return f"{name} is a key that is published with this program. {how}"
    return ""


def debug_fault(name: str, debug: bool, public_url: str) -> str:
    """What is wrong with the switch `name`, as a sentence that says what to do; empty when nothing is."""
    if debug and not is_home(public_url):
        return f"{name} is True, but {public_url} is not this machine: errors would show the source. Set it to False."
    return ""
