"""A proxy between the requester's programs and the marketplace that kills the caller at a chosen moment of a call.

So the product needs no hook for its own death: what dies is the real process, by SIGKILL, and what it had sent is
carried out or not as the moment says.
"""

from __future__ import annotations

import http.client
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

# A reply that was delivered has this long to be written down, or not, before the caller dies.
LATE_SECONDS = (0.0, 0.03)
TIMEOUT_SECONDS = 60
LONGEST_CUT_SECONDS = 30
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding"}


class Moment(StrEnum):
    """When the caller dies."""

    BEFORE = "before"  # the marketplace never hears of the call
    AFTER = "after"  # it is carried out, and its reply goes nowhere
    LATE = "late"  # the reply is delivered, and may or may not be written down
    DAY = "a day after"  # as after; and when the caller is back, the call's token has died


@dataclass
class Cut:
    """The caller of the call of `operation` that comes after `skip` others of its kind dies at `moment`.

    Since the last death at least `rest` seconds have passed, so that work goes on in between.
    """

    operation: str
    moment: Moment
    skip: int = 0
    rest: float = 0.0
    program: str = ""

    @property
    def done(self) -> bool:
        return bool(self.program)


class Plan:
    """Which cuts are still to be made. One at a time, and those of one operation in their order."""

    def __init__(self, cuts: Iterable[Cut] = ()) -> None:
        self.cuts = list(cuts)
        self._last = 0.0
        self._turn = threading.Condition()
        self._cutting = False

    def take(self, operation: str) -> Cut | None:
        """The cut that this call meets; `finish` must follow."""
        with self._turn:
            if not self._wanted(operation):
                return None
            # A call that comes once only must not slip by while another one is being cut.
            self._turn.wait_for(lambda: not self._cutting, LONGEST_CUT_SECONDS)
            wanted = self._wanted(operation)
            if wanted is None or self._cutting or time.monotonic() < self._last + wanted.rest:
                return None
            if wanted.skip:
                wanted.skip -= 1
                return None
            self._cutting = True
            return wanted

    def _wanted(self, operation: str) -> Cut | None:
        return next((cut for cut in self.cuts if cut.operation == operation and not cut.done), None)

    def finish(self, cut: Cut, program: str) -> None:
        """`program` is who died; empty when nobody did, and the cut stays to be made."""
        with self._turn:
            cut.program = program
            self._cutting = False
            self._turn.notify_all()
            self._last = time.monotonic()

    @property
    def left(self) -> list[Cut]:
        return [cut for cut in self.cuts if not cut.done]


class CuttingProxy:
    """`with CuttingProxy(upstream, kill) as proxy:` serves at `proxy.url` and counts calls by operation.

    `kill(port, cut)` ends the program that calls from this local port and returns its name, or "" when it is gone.
    Host names and bodies pass unchanged, because the requests are signed.
    """

    def __init__(self, kill: Callable[[int, Cut], str]) -> None:
        self.calls: Counter[str] = Counter()
        self.plan = Plan()
        self.upstream = ""
        self._kill = kill
        self._draw = random.Random(1)
        self._turn = threading.Condition()
        self._under_way = 0
        proxy = self

        class Handler(_Handler):
            pass

        Handler.proxy = proxy
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> CuttingProxy:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._server.shutdown()
        self._server.server_close()

    def wait_quiet(self, seconds: float = 20) -> None:
        """Return when the marketplace has answered every call that it was sent, or after so long."""
        with self._turn:
            self._turn.wait_for(lambda: not self._under_way, seconds)

    def pass_on(self, handler: _Handler, body: bytes) -> None:
        """One call: forwarded, cut, or both."""
        operation = handler.headers.get("X-Amz-Target", "").rpartition(".")[2]
        self.calls[operation] += 1
        cut = self.plan.take(operation)
        if handler.has_hung_up():
            # It was held here while its caller died: it never leaves. A day later would be too late for it.
            handler.close_connection = True
            if cut is not None:
                self.plan.finish(cut, "")
            return
        try:
            if cut is None or cut.moment is not Moment.BEFORE:
                reply = self._forward(handler, body)
                if cut is None or cut.moment is Moment.LATE:
                    handler.deliver(*reply)
        except (OSError, http.client.HTTPException):
            # The marketplace is away or hung up: so does the proxy.
            handler.close_connection = True
            if cut is not None:
                self.plan.finish(cut, "")
            return
        if cut is not None:
            handler.close_connection = True
            self._cut(cut, handler.client_address[1])

    def _cut(self, cut: Cut, port: int) -> None:
        program = ""
        try:
            if cut.moment is Moment.LATE:
                time.sleep(self._draw.uniform(*LATE_SECONDS))
            program = self._kill(port, cut)
        finally:
            self.plan.finish(cut, program)

    def _forward(self, handler: _Handler, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        with self._turn:
            self._under_way += 1
        try:
            return self._ask(handler, body)
        finally:
            with self._turn:
                self._under_way -= 1
                self._turn.notify_all()

    def _ask(self, handler: _Handler, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        # A connection of its own for each call: a kept one that the marketplace closes would be a fault nobody ordered.
        upstream = http.client.HTTPConnection(urlsplit(self.upstream).netloc, timeout=TIMEOUT_SECONDS)
        try:
            upstream.putrequest(handler.command, handler.path, skip_host=True, skip_accept_encoding=True)
            for name, value in handler.headers.items():
                if name.lower() not in HOP_BY_HOP:
                    upstream.putheader(name, value)
            upstream.putheader("Connection", "close")
            upstream.endheaders(body)
            reply = upstream.getresponse()
            return reply.status, reply.getheaders(), reply.read()
        finally:
            upstream.close()


class _Handler(BaseHTTPRequestHandler):
    proxy: CuttingProxy
    protocol_version = "HTTP/1.1"
    # A reply in two packets would wait for the client's acknowledgement of the first.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.proxy.pass_on(self, body)

    def has_hung_up(self) -> bool:
        """Whether the caller has closed its end: a living one waits for its reply."""
        try:
            return self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def deliver(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in HOP_BY_HOP | {"content-length"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def handle(self) -> None:
        with suppress(ConnectionError):  # who called is dead
            super().handle()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Silent: the marketplace keeps a log of its own."""
