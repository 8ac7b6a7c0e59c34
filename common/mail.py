"""A mail server from the environment, as one address."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


def env_mail(name: str) -> dict[str, Any]:
    """Django's mail settings from smtp://, smtp+tls:// (STARTTLS) or smtps://user:password@host:port; empty: none."""
    raw = os.environ.get(name, "")
    if not raw:
        return {}
    try:
        parts = urlsplit(raw)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in PORTS or not parts.hostname or parts.path.strip("/") or parts.query:
        # The value holds a password: it is not repeated.
        raise ImproperlyConfigured(f"{name}: write an address such as smtp+tls://user:password@mail.example.org:587.")
    return {
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port or PORTS[parts.scheme],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
    }
