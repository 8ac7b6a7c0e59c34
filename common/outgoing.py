"""HTTP posts to an address that somebody else chose, such as a webhook.

Whoever may choose an address could make this machine knock at its own network's doors. So the name is resolved here,
every address that it has must be allowed, and the connection goes to one of the very addresses that were checked, with
the name in the Host header and in the check of the certificate. Redirects are not followed, of an answer the status and
the headers alone are read, and everything but the look-up of the name is over in a few seconds.
"""

from __future__ import annotations

import functools
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult

from common.addresses import Reach, checked

CONNECT_SECONDS = 3.0
# The narrower kind first: RemoteDisconnected is a ConnectionError and an HTTPException.
_WHY: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    ((ConnectionRefusedError,), "nothing listens at this address and port."),
    ((TimeoutError,), "its time was over."),
    ((ConnectionError, ssl.SSLEOFError), "it ended the connection."),
    ((ssl.SSLError,), "no https is spoken at this address and port."),
    ((http.client.HTTPException,), "what it sent is no answer of HTTP."),
)
# Of the addresses of one name.
MOST_TRIED = 4


class NoAnswerError(Exception):
    """Nobody answered, or the name leads where nothing may be called; another time it may be otherwise.

    `lacks` is `networks` where the name leads to an internal network that Reach does not allow.
    """

    def __init__(self, message: str, lacks: str = "") -> None:
        super().__init__(message)
        self.lacks = lacks


@dataclass(frozen=True)
class Answer:
    """`retry_after` is the header, empty where there is none."""

    status: int
    retry_after: str


def look_up(parts: SplitResult, reach: Reach) -> list[Any]:
    """The addresses of the host, as socket.getaddrinfo gives them. Raises NoAnswerError when any is not allowed."""
    host, port = parts.hostname or "", _port(parts)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        later = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
        why = "it could not be looked up just now." if later else "nobody knows this name. Is it spelled right?"
        raise NoAnswerError(f"The webhook's host {host} has no address: {why}") from error
    if not reach.names_itself(host):
        internal = [str(entry[4][0]) for entry in found if not reach.permits(str(entry[4][0]))]
        if internal:
            raise NoAnswerError(f"The webhook's host {host} is on an internal network: {internal[0]}.", "networks")
    return found[:MOST_TRIED]


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def post(
    url: str, body: bytes, headers: Mapping[str, str], reach: Reach, *, total_seconds: float, read_seconds: float
) -> Answer:
    """What is answered to this body. `read_seconds` bounds the wait for each part, `total_seconds` the whole exchange.

    Raises AddressError, NoAnswerError.
    """
    parts = checked(url, reach)
    wire = _Wire(look_up(parts, reach), read_seconds, time.monotonic() + total_seconds)
    connection = _connection(parts, read_seconds)
    # Not by the name again: a second look-up might give another, internal, address.
    connection._create_connection = wire.connect  # type: ignore[attr-defined]
    end = threading.Timer(total_seconds, wire.cut)
    end.daemon = True
    end.start()
    try:
        connection.request("POST", _target(parts), body, dict(headers))
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers.get("Retry-After", ""))
    except (OSError, http.client.HTTPException) as error:
        why = "its time was over." if wire.is_over() else _why(error)
        raise NoAnswerError(f"The webhook did not answer: {why}") from error
    finally:
        end.cancel()
        connection.close()
        wire.close()


def _why(error: OSError | http.client.HTTPException) -> str:
    """What went wrong, for people who run no server."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message.rstrip('.')})."
    for kinds, why in _WHY:
        if isinstance(error, kinds):
            return why
    return f"the connection failed ({getattr(error, 'strerror', None) or type(error).__name__})."


def _connection(parts: SplitResult, seconds: float) -> http.client.HTTPConnection:
    host = parts.hostname or ""
    if parts.scheme == "https":
        return http.client.HTTPSConnection(host, parts.port, timeout=seconds, context=_certificates())
    return http.client.HTTPConnection(host, parts.port, timeout=seconds)


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Read once: the file of all authorities takes longer than a call."""
    return ssl.create_default_context()


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


class _Wire:
    """The connection of one exchange, to one of the checked addresses; another thread ends it when its time is over."""

    def __init__(self, entries: Sequence[Any], read_seconds: float, end: float) -> None:
        self._entries, self._read_seconds, self._end = entries, read_seconds, end
        self._handles: list[socket.socket] = []

    def connect(self, *ignored: Any, **also_ignored: Any) -> socket.socket:
        """In the place of http.client's own, which looks the name up."""
        fault: OSError = TimeoutError("no address in time")
        for entry in self._entries:
            left = self._end - time.monotonic()
            if left <= 0:
                break
            try:
                return self._connect(entry, min(CONNECT_SECONDS, left))
            except OSError as error:
                fault = error
        raise fault

    def _connect(self, entry: Any, seconds: float) -> socket.socket:
        family, kind, protocol, _, address = entry
        connected = socket.socket(family, kind, protocol)
        connected.settimeout(seconds)
        try:
            connected.connect(address)
        except OSError:
            connected.close()
            raise
        connected.settimeout(self._read_seconds)
        # TLS takes the socket itself over while it shakes hands; a second handle can still end it.
        self._handles.append(connected.dup())
        if time.monotonic() >= self._end:
            raise TimeoutError("no connection in time")
        return connected

    def is_over(self) -> bool:
        return time.monotonic() >= self._end

    def cut(self) -> None:
        for handle in self._handles:
            with suppress(OSError):
                handle.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        for handle in self._handles:
            handle.close()
