"""Clients that send a request byte by byte and never come to its end; who is cut off comes again at once."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tests.nginx import Proxy

PAUSE_SECONDS = 1.0
HEADERS = b"GET / HTTP/1.1\r\nHost: %b\r\nX-Slow: "
FORM = b"POST /mturk/externalSubmit HTTP/1.1\r\nHost: %b\r\nContent-Length: 100000\r\n\r\n"


@dataclass
class _Client:
    host: str
    beginning: bytes
    connection: ssl.SSLSocket | None = None


class SlowClients:
    """`with SlowClients(proxy, hosts, 64) as slow:` 64 with slow headers and 64 with slow forms, as long as it lasts.

    `held` are connected at this moment, `least` were so at every moment since all were.
    """

    def __init__(self, proxy: Proxy, hosts: Sequence[str], each: int) -> None:
        self.held, self.least, self.cut_off = 0, 2 * each, 0
        self._proxy = proxy
        self._clients = [
            _Client(hosts[number % len(hosts)], beginning) for beginning in (HEADERS, FORM) for number in range(each)
        ]
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._send, daemon=True)

    def __enter__(self) -> SlowClients:
        self._thread.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._over.set()
        self._thread.join(60)
        for client in self._clients:
            self._close(client)

    def sentence(self) -> str:
        return (
            f"{len(self._clients)} slow clients, never fewer than {self.least} connected; "
            f"they were cut off {self.cut_off} times and came again"
        )

    def _send(self) -> None:
        complete = False
        while not self._over.is_set():
            for client in self._clients:
                self._go_on(client)
            self.held = sum(client.connection is not None for client in self._clients)
            complete = complete or self.held == len(self._clients)
            if complete:
                self.least = min(self.least, self.held)
            self._over.wait(PAUSE_SECONDS)

    def _go_on(self, client: _Client) -> None:
        if client.connection is not None and self._is_cut_off(client.connection):
            self._close(client)
            self.cut_off += 1
        with suppress(OSError):
            if client.connection is None:
                client.connection = self._proxy.connect(client.host)
                client.connection.sendall(client.beginning % client.host.encode())
                client.connection.setblocking(False)
            else:
                client.connection.send(b"x")

    @staticmethod
    def _is_cut_off(connection: ssl.SSLSocket) -> bool:
        """Nothing may come to who has not asked yet, but the words that its time is over."""
        try:
            return connection.recv(1000) is not None
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        except OSError:
            return True

    @staticmethod
    def _close(client: _Client) -> None:
        if client.connection is not None:
            client.connection.close()
            client.connection = None
