"""System checks: a configuration that cannot work fails at start, with a hint."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import Error, Tags, Warning, register

from common.configuration import is_home
from common.env import removed_variables

register(removed_variables)


@register(Tags.security)
def addresses_are_reachable(app_configs, **kwargs):
    """Workers' browsers open PUBLIC_URL: a loopback address works only for people on this machine."""
    if is_home(settings.PUBLIC_URL) and not is_home(settings.MTURK_ENDPOINT_URL):
        yield Error(
            "PUBLIC_URL is a loopback address, but the marketplace is not on this machine.",
            hint="Set PUBLIC_URL to the https address under which workers reach the task pages.",
            id="annotate.E001",
        )


@register(Tags.security)
def frames_need_another_origin(app_configs, **kwargs):
    if urlsplit(settings.PUBLIC_URL).netloc in {urlsplit(o).netloc for o in settings.MTURK_SUBMIT_ORIGINS}:
        yield Error(
            "PUBLIC_URL and the marketplace share one origin.",
            hint="Serve the task pages from another host or port than the marketplace.",
            id="annotate.E003",
        )


@register()
def credentials_are_there(app_configs, **kwargs):
    if not (os.environ.get("AWS_ACCESS_KEY_ID") or os.environ.get("AWS_PROFILE")):
        yield Warning(
            "No credentials for the marketplace in the environment.",
            hint="Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to a requester's key pair.",
            id="annotate.W001",
        )


@register()
def queue_has_a_whole_key_pair(app_configs, **kwargs):
    if bool(settings.MTURK_EVENTS_ACCESS_KEY_ID) != bool(settings.MTURK_EVENTS_SECRET_ACCESS_KEY):
        yield Error(
            "Only one half of the queue's key pair is set.",
            hint="Set both MTURK_EVENTS_ACCESS_KEY_ID and MTURK_EVENTS_SECRET_ACCESS_KEY, or neither.",
            id="annotate.E013",
        )
