"""Where webhooks may be: on the internet, where the settings allow it on an internal network, and never here itself."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from common import outgoing
from common.addresses import AddressError, InternalAddressError, PlainHttpError, Reach, checked, is_loopback

_RUN_BY = "Whoever runs this installation can allow"
_TO_DO: dict[type[Exception], str] = {
    PlainHttpError: f" {_RUN_BY} http by WEBHOOK_HTTP.",
    InternalAddressError: f" {_RUN_BY} the network by WEBHOOK_NETWORKS.",
    outgoing.InternalHostError: f" {_RUN_BY} the network by WEBHOOK_NETWORKS.",
}


class WebhookAddressError(Exception):
    """The address may not be called; the message is a sentence that says why."""


def reach() -> Reach:
    return Reach(http=settings.WEBHOOK_HTTP, networks=tuple(settings.WEBHOOK_NETWORKS))


def refuse(url: str) -> None:
    """What can be said without a look-up of the name. Raises WebhookAddressError."""
    try:
        parts = checked(url, reach())
    except AddressError as error:
        raise WebhookAddressError(f"The webhook's address {error}{_TO_DO.get(type(error), '')}") from None
    if _is_here(parts):
        raise WebhookAddressError("The webhook's address is Annotate's own: it would be told what it has told.")


def refuse_by_name(url: str) -> None:
    """Also what its name leads to now, so not within a transaction. Raises WebhookAddressError."""
    refuse(url)
    try:
        outgoing.look_up(urlsplit(url), reach())
    except outgoing.NoAnswerError as error:
        raise WebhookAddressError(f"{error}{_TO_DO.get(type(error), '')}") from None


def _is_here(parts: SplitResult) -> bool:
    """Whether this installation answers to the host. On loopback the port tells its programs from others."""
    host, own = _named(parts.hostname or ""), urlsplit(settings.PUBLIC_URL)
    if is_loopback(host):
        return is_loopback(own.hostname or "") and _port(parts) == _port(own)
    return host in {_named(name) for name in (own.hostname or "", *settings.ALLOWED_HOSTS)}


def _named(host: str) -> str:
    return host.lower().strip("[]").rstrip(".")


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)
