"""Signed HTTP posts to an address that a requester chose.

Whoever may choose an address could make this machine knock at its own network's doors. So the name is
resolved here, every address that it has must be public, and the connection goes to the very address
that was checked. Redirects are not followed, and everything has to be over in a few seconds.
"""

import hmac
import http.client
import socket
import ssl
import threading
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import SplitResult, urlsplit

from common.addresses import is_loopback, is_public
from marketplace.rules import notifications
from marketplace.rules.errors import InvalidTransportEndpoint
from marketplace.transports.errors import TransportError

CONNECT_SECONDS = 3
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
    status = _exchange(_checked(url, loopback), body, headers, loopback)
    if not 200 <= status <= 299:
        raise TransportError(f"The webhook answered {status}.")


def _checked(url: str, loopback: bool) -> SplitResult:
    try:
        return urlsplit(notifications.check_webhook_url(url, loopback=loopback))
    except InvalidTransportEndpoint as error:
        raise TransportError(error.message, permanent=True) from error


def _exchange(parts: SplitResult, body: str, headers: dict[str, str], loopback: bool) -> int:
    host = parts.hostname or ""
    secure = parts.scheme == "https"
    connection = (
        http.client.HTTPSConnection(host, parts.port, timeout=READ_SECONDS, context=ssl.create_default_context())
        if secure
        else http.client.HTTPConnection(host, parts.port, timeout=READ_SECONDS)
    )
    address = _resolve(host, parts.port or (443 if secure else 80), loopback)
    handles: list[socket.socket] = []
    # Not by the name again: a second look-up might give another, internal, address.
    connection._create_connection = partial(_connect, address, handles)  # type: ignore[attr-defined]
    end = threading.Timer(TOTAL_SECONDS, _cut, [handles])
    end.daemon = True
    end.start()
    try:
        connection.request("POST", _target(parts), body.encode(), headers)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        raise TransportError(f"The webhook did not answer: {type(error).__name__}: {error}") from error
    finally:
        end.cancel()
        connection.close()
        for handle in handles:
            handle.close()


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _resolve(host: str, port: int, loopback: bool) -> Any:
    """One address of the host, fit for socket.connect; refused when any of its addresses is not public."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise TransportError(f"The webhook's host {host} has no address: {error}") from error
    if not (loopback and is_loopback(host)):
        internal = [str(entry[4][0]) for entry in found if not is_public(str(entry[4][0]))]
        if internal:
            raise TransportError(f"The webhook's host {host} is on an internal network: {internal[0]}.")
    return found[0]


def _connect(entry: Any, handles: list[socket.socket], *ignored: Any, **also_ignored: Any) -> socket.socket:
    family, kind, protocol, _, address = entry
    connected = socket.socket(family, kind, protocol)
    connected.settimeout(CONNECT_SECONDS)
    try:
        connected.connect(address)
    except OSError:
        connected.close()
        raise
    connected.settimeout(READ_SECONDS)
    # TLS takes the socket itself over while it shakes hands; a second handle can still end it.
    handles.append(connected.dup())
    return connected


def _cut(handles: list[socket.socket]) -> None:
    for handle in handles:
        with suppress(OSError):
            handle.shutdown(socket.SHUT_RDWR)
