"""Signed HTTP posts to an address that a requester chose. `common.outgoing` sees to where they may go."""

import hmac
from datetime import datetime

from common import outgoing
from common.addresses import AddressError, Reach
from marketplace.transports.errors import TransportError

READ_SECONDS = 5
# Of the whole exchange: an answer that comes byte by byte would otherwise hold a thread for hours.
TOTAL_SECONDS = 10


def signature(secret: str, timestamp: str, body: str) -> str:
    """The value of the signature header: HMAC-SHA256 over timestamp, full stop and body."""
    return "sha256=" + hmac.new(secret.encode(), f"{timestamp}.{body}".encode(), "sha256").hexdigest()


def post(url: str, body: str, secret: str, sent_at: datetime, *, loopback: bool) -> None:
    """Post the body; any answer from 200 to 299 means that it has arrived."""
    timestamp = str(int(sent_at.timestamp()))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "marketplace-webhook",
        "X-Marketplace-Timestamp": timestamp,
        "X-Marketplace-Signature": signature(secret, timestamp, body),
    }
    reach = Reach(loopback=loopback)
    try:
        answer = outgoing.post(
            url, body.encode(), headers, reach, total_seconds=TOTAL_SECONDS, read_seconds=READ_SECONDS
        )
    except AddressError as error:
        raise TransportError(f"The webhook's address {error}", permanent=True) from error
    except outgoing.NoAnswerError as error:
        raise TransportError(str(error)) from error
    if not 200 <= answer.status <= 299:
        raise TransportError(f"The webhook answered {answer.status}.")
