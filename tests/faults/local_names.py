"""Names under .localhost are this machine's (RFC 6761), also where its resolver does not know that."""

from __future__ import annotations

import socket
from typing import Any

_ask = socket.getaddrinfo


def know_local_names() -> None:
    """For this process."""
    socket.getaddrinfo = _resolve


def _resolve(host: Any, *more: Any, **named: Any) -> Any:
    return _ask("127.0.0.1" if str(host).endswith(".localhost") else host, *more, **named)
