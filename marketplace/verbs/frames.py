"""Where the pages of requesters are served."""

from django.conf import settings

from marketplace.rules.questions.kinds import frames_origin


def origin() -> str:
    """The origin of the frames; empty when none is configured and the site is not on this machine."""
    return frames_origin(settings.MARKETPLACE_FRAMES_URL, settings.MARKETPLACE_PUBLIC_URL)


def file_sources() -> tuple[str, ...]:
    """The schemes of scripts and pictures in pages of requesters: plain http only where the site itself is on it."""
    return ("https:", "http:") if settings.MARKETPLACE_PUBLIC_URL.startswith("http://") else ("https:",)
