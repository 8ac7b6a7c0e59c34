"""A mail server from the environment, as one address."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


def mail_settings(address: str) -> dict[str, Any]:
    """Django's settings for smtp://, smtp+tls:// (STARTTLS) or smtps://user:password@host:port; none for an empty one.

    Raises ValueError.
    """
    if not address:
        return {}
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in PORTS or not parts.hostname or parts.path.strip("/") or parts.query:
        raise ValueError("write an address such as smtp+tls://user:password@mail.example.org:587")
    return {
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port or PORTS[parts.scheme],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
    }
