"""System checks: a wrong configuration fails at start, loudly."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error


def accept_any_key_stays_at_home(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    host = urlsplit(settings.MARKETPLACE_PUBLIC_URL).hostname
    if not settings.MARKETPLACE_ACCEPT_ANY_KEY or host in settings.LOOPBACK_HOSTS:
        return []
    return [
        Error(
            f"MARKETPLACE_ACCEPT_ANY_KEY is True, but MARKETPLACE_PUBLIC_URL ({host}) is not this machine.",
            hint="Anybody could publish and approve. Set it to False and make keys with createrequester.",
            id="marketplace.E001",
        )
    ]
