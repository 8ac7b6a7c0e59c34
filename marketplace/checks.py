"""System checks: a wrong configuration fails at start, loudly."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from common.configuration import is_home
from common.env import removed_variables
from marketplace.verbs import frames

register(removed_variables)
_ELSEWHERE = "is True, but MARKETPLACE_PUBLIC_URL ({url}) is not this machine."


@register
def test_controls_stay_at_home(app_configs: Any, **kwargs: Any) -> Iterator[CheckMessage]:
    if settings.MARKETPLACE_TEST_CONTROLS and not is_home(settings.MARKETPLACE_PUBLIC_URL):
        yield Error(
            f"MARKETPLACE_TEST_CONTROLS {_ELSEWHERE.format(url=settings.MARKETPLACE_PUBLIC_URL)}",
            hint="Anybody could move the clock and break calls. Set it to False.",
            id="marketplace.E010",
        )


@register
def accept_any_key_stays_at_home(app_configs: Any, **kwargs: Any) -> Iterator[CheckMessage]:
    if settings.MARKETPLACE_ACCEPT_ANY_KEY and not is_home(settings.MARKETPLACE_PUBLIC_URL):
        yield Error(
            f"MARKETPLACE_ACCEPT_ANY_KEY {_ELSEWHERE.format(url=settings.MARKETPLACE_PUBLIC_URL)}",
            hint="Anybody could publish and approve. Set it to False and make keys with createrequester.",
            id="marketplace.E001",
        )


@register
def queues_have_a_key(app_configs: Any, **kwargs: Any) -> Iterator[CheckMessage]:
    endpoints = settings.MARKETPLACE_SQS_ENDPOINT_URL or settings.MARKETPLACE_SNS_ENDPOINT_URL
    if endpoints and not (settings.MARKETPLACE_AWS_ACCESS_KEY_ID and settings.MARKETPLACE_AWS_SECRET_ACCESS_KEY):
        yield Error(
            "MARKETPLACE_SQS_ENDPOINT_URL or MARKETPLACE_SNS_ENDPOINT_URL is set without a key to sign with.",
            hint="Set MARKETPLACE_AWS_ACCESS_KEY_ID and MARKETPLACE_AWS_SECRET_ACCESS_KEY.",
            id="marketplace.E011",
        )


@register
def frames_have_their_own_host(app_configs: Any, **kwargs: Any) -> Iterator[CheckMessage]:
    public, own = urlsplit(settings.MARKETPLACE_PUBLIC_URL), urlsplit(settings.MARKETPLACE_FRAMES_URL)
    if own.hostname and own.hostname == public.hostname:
        yield Error(
            f"MARKETPLACE_FRAMES_URL has the host of MARKETPLACE_PUBLIC_URL ({own.hostname}).",
            hint="Pages of requesters run scripts: give them a host name of their own, best of another domain.",
            id="marketplace.E020",
        )
    elif not frames.origin():
        yield Warning(
            "MARKETPLACE_FRAMES_URL is not set: HTMLQuestion, QuestionForm and layouts are refused.",
            hint="Set it to an address of this marketplace under another host name.",
            id="marketplace.W020",
        )
    elif own.scheme == "http" and public.scheme == "https":
        yield Error(
            "MARKETPLACE_FRAMES_URL is http, and browsers show no such page inside one of https.",
            hint="Write https:// there too.",
            id="marketplace.E021",
        )
