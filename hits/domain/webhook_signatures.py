"""How a message to a webhook is signed, so that its receiver knows that it came from here: as Standard Webhooks says.

https://www.standardwebhooks.com: HMAC-SHA256 over message id, timestamp and body, with a full stop between them, in
base64. A receiver refuses old timestamps, and knows by the id what it has had.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Sequence

PREFIX = "whsec_"
SECRET_BYTES = 32
VERSION = "v1"
# Not of Standard Webhooks: from 2 on, the message may have come before.
ATTEMPT = "webhook-attempt"


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
