"""Where the pages of requesters are served."""

from django.conf import settings

from marketplace.rules.questions.kinds import frames_origin


def origin() -> str:
    """The origin of the frames; empty when none is configured and the site is not on this machine."""
    return frames_origin(settings.MARKETPLACE_FRAMES_URL, settings.MARKETPLACE_PUBLIC_URL)
