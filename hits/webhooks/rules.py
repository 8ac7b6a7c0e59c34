"""Where webhooks may be, how their messages are signed, and the addresses that messages name.

An address is on the internet, where the settings allow it on an internal network, and never this installation itself.
Signatures are those of Standard Webhooks, https://www.standardwebhooks.com: HMAC-SHA256 over message id, timestamp and
body, with a full stop between them, in base64. A receiver refuses old timestamps, and knows by the id what it has had.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.urls import reverse

from common import outgoing
from common.addresses import AddressError, Reach, checked, is_loopback

PREFIX = "whsec_"
SECRET_BYTES = 32
VERSION = "v1"
# Not of Standard Webhooks: from 2 on, the message may have come before.
ATTEMPT = "webhook-attempt"
_RUN_BY = "Whoever runs this installation can allow"
_TO_DO = {
    "http": f" {_RUN_BY} http by WEBHOOK_HTTP.",
    "networks": f" {_RUN_BY} the network by WEBHOOK_NETWORKS.",
}


def reach() -> Reach:
    return Reach(http=settings.WEBHOOK_HTTP, networks=tuple(settings.WEBHOOK_NETWORKS))


def refuse(url: str) -> None:
    """What can be said without a look-up of the name. Raises AddressError."""
    try:
        parts = checked(url, reach())
    except AddressError as error:
        raise AddressError(f"The webhook's address {error}{_TO_DO.get(error.lacks, '')}") from None
    if _is_here(parts):
        raise AddressError("The webhook's address is Annotate's own: it would report to itself.")


def refuse_by_name(url: str) -> None:
    """Also what its name leads to now, so not within a transaction. Raises AddressError."""
    refuse(url)
    try:
        outgoing.look_up(urlsplit(url), reach())
    except outgoing.NoAnswerError as error:
        raise AddressError(f"{error}{_TO_DO.get(error.lacks, '')}") from None


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


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signature(secret: str, message_id: str, timestamp: int, body: str) -> str:
    """Such as `v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=`; `timestamp` in seconds since 1970."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = hmac.new(key, f"{message_id}.{timestamp}.{body}".encode(), "sha256").digest()
    return f"{VERSION},{base64.b64encode(signed).decode()}"


def headers(secrets_: Sequence[str], message_id: str, timestamp: int, body: str, attempt: int) -> dict[str, str]:
    """Of one attempt; with a signature by each of the secrets."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "annotate-webhook",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signature(secret, message_id, timestamp, body) for secret in secrets_),
        ATTEMPT: str(attempt),
    }


def api_address(name: str, *arguments: object) -> str:
    """Of a route of the API, where a receiver with a token reads more."""
    return f"{settings.PUBLIC_URL}{reverse(f'api:{name}', args=arguments)}"
