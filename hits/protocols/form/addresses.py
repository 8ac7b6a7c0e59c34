"""Addresses of pictures, sounds and pages that an item names: what a worker's browser may be sent to."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

LONGEST = 2000
# Names alone: an address by number may lead into the worker's own network.
_HOST = re.compile(r"(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")
_PRIVATE = (".local", ".localhost", ".internal", ".intranet", ".lan", ".home", ".corp", ".home.arpa", ".test", ".onion")
_UNWANTED = re.compile(r"[\s\x00-\x1f\x7f<>\"'`\\^{}|;,]")


def origin_of(address: str) -> str:
    """https, host and port of an address that a worker's browser may load. Raises ValueError."""
    if len(address) > LONGEST:
        raise ValueError(f"has more than {LONGEST:,} characters")
    if not address.startswith("https://"):
        raise ValueError("does not begin with https://")
    if not address.isascii() or _UNWANTED.search(address.partition("?")[0]) or re.search(r"[\s<>\"]", address):
        raise ValueError("has a sign that an address cannot hold: write it in percent encoding")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise ValueError("is no address") from error
    host = (parts.hostname or "").rstrip(".")
    if parts.username is not None or parts.password is not None:
        raise ValueError("has a user name")
    if not _HOST.fullmatch(host) or host.endswith(_PRIVATE):
        raise ValueError("is not on a public host that has a name")
    return f"https://{host}" + (f":{port}" if port else "")
