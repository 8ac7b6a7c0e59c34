"""A worker of gunicorn that takes a thread for a request when all of it has come, so that slow clients hold none.

Gunicorn's own reads the head and the body in a thread, for as long as the client takes. Here the loop that takes new
connections reads whatever has come, keeps it, and knows from the length or the last chunk when a request is whole.
Gunicorn then reads it from there as it would from the connection: it alone says what is asked and what is wrong in it.
As nothing of the request is left on the connection, the next one can follow.
"""

from __future__ import annotations

import os
import re
import resource
import selectors
import socket
import time
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import Any

from gunicorn import http, util
from gunicorn.workers.gthread import ThreadWorker

from common import sizes
from common.env import Shared

# A request has so long to come. Its bytes give it more, up to so long from each: a large file takes the time that it
# needs, and a pause or a trickle is ended.
SECONDS = 20.0
BYTES_A_SECOND = 500
# What is longer waits in a temporary file. A head may not be longer.
IN_MEMORY_BYTES = 128 * 1024
# A file with its media, and room for what is around them.
MOST_BYTES = (sizes.IMPORT_MB + sizes.MEDIA_MB + 1) * sizes.MB
# A proxy sends at once what it has taken whole: what is long is not kept here a second time.
BEHIND_PROXY = any(Shared.read().proxies(os.environ.get(name, "")) for name in ("PUBLIC_URL", "MARKETPLACE_PUBLIC_URL"))
# For the client to close a connection that ends. Closed with unread bytes, it would be reset and its answer lost.
CLOSING_SECONDS = 2.0

_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_END_OF_LINE = re.compile(rb"\n")
_LENGTH = re.compile(rb"(?im)^content-length:[ \t]*([0-9]+)[ \t]*\r?$")
_CHUNKED = re.compile(rb"(?im)^transfer-encoding:")
_WAITS = re.compile(rb"(?im)^expect:[ \t]*100-continue[ \t]*\r?$")


class TooLargeError(Exception):
    """More than is taken; the arguments are an HTTP status, its name and a sentence."""


class Incoming:
    """What has come of one request. Gunicorn's parser takes it for the connection."""

    def __init__(self, sock: socket.socket) -> None:
        self.size = 0
        # How many bytes of the next request the client has sent with this one.
        self.ahead = 0
        self._sock = sock
        self._is_whole = False
        self._file = SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115
        self._reader = self._read()
        next(self._reader)

    @property
    def is_long(self) -> bool:
        return self.size > IN_MEMORY_BYTES

    def add(self, part: bytes) -> bool:
        """Whether the request can be handled now. Raises TooLargeError."""
        self._file.write(part)
        self.size += len(part)
        try:
            self._reader.send(part)
        except StopIteration:
            self._is_whole = True
        if self.size > MOST_BYTES:
            raise _too_large()
        if self._is_whole or (BEHIND_PROXY and self.is_long):
            self._file.seek(0)
            return True
        return False

    def recv(self, size: int) -> bytes:
        return self._file.read(size) or (b"" if self._is_whole else self._sock.recv(size))

    def _read(self) -> Generator[None, bytes, None]:
        """Is sent each part, and returns where the request ends, or where gunicorn will refuse it."""
        came = bytearray()
        head = yield from self._until(_END_OF_HEAD, came)
        length = _LENGTH.search(head)
        # Of more digits than these Python makes no number.
        if length and (len(length[1]) > 20 or int(length[1]) > MOST_BYTES):
            raise _too_large()
        chunked = _CHUNKED.search(head)
        if (chunked or length) and not came and _WAITS.search(head) and b"HTTP/1.0" not in head.split(b"\n", 1)[0]:
            self._sock.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        if chunked:
            yield from self._read_chunks(came)
        elif length:
            yield from self._skip(came, int(length[1]))
        self.ahead = len(came)

    def _read_chunks(self, came: bytearray) -> Generator[None, bytes, None]:
        size = 1
        while size:
            line = yield from self._until(_END_OF_LINE, came)
            try:
                size = int(line.split(b";")[0], 16)
            except ValueError:
                return
            if size:
                yield from self._skip(came, size + len(b"\r\n"))
        while (yield from self._until(_END_OF_LINE, came)).strip():
            pass  # a trailer

    def _until(self, pattern: re.Pattern[bytes], came: bytearray) -> Generator[None, bytes, bytes]:
        """Takes from `came` what is before the pattern, and the pattern."""
        searched = 0
        while not (end := pattern.search(came, max(0, searched - 3))):
            if len(came) > IN_MEMORY_BYTES:
                raise TooLargeError(431, "Request Header Fields Too Large", "The head of the request is too long.")
            searched = len(came)
            came += yield
        before = bytes(came[: end.start()])
        del came[: end.end()]
        return before

    def _skip(self, came: bytearray, size: int) -> Generator[None, bytes, None]:
        while len(came) < size:
            size -= len(came)
            came[:] = yield
        del came[:size]


def _too_large() -> TooLargeError:
    return TooLargeError(413, "Content Too Large", f"A request may have {MOST_BYTES:,} bytes.")


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        # Connections whose request has not come, or which their clients have yet to close.
        self._waiting: set[Any] = set()
        self._looked = 0.0

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        super().check_config(cfg, log)
        if cfg.is_ssl:
            raise RuntimeError("Let a proxy end TLS (docs/operating.md) and leave out --certfile and --keyfile.")

    def init_process(self) -> None:
        # Each connection may have a temporary file.
        least = 2 * self.worker_connections + 200
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 <= soft < least:
            resource.setrlimit(resource.RLIMIT_NOFILE, (least if hard < 0 else min(least, hard), hard))
        super().init_process()

    def enqueue_req(self, conn: Any) -> None:
        """Gunicorn calls this where a request is about to come, or has begun to."""
        ahead = conn.parser.unreader.take_buffered() if conn.parser else b""
        conn.incoming = Incoming(conn.sock)
        self._wait(conn, SECONDS)
        if ahead:
            self._take(conn, ahead)
        else:
            self._read(conn, conn.sock)

    def _wait(self, conn: Any, seconds: float) -> None:
        conn.sock.setblocking(False)
        conn.timeout = time.monotonic() + seconds
        self._waiting.add(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._read, conn))

    def _wait_no_more(self, conn: Any) -> None:
        self._waiting.discard(conn)
        with suppress(KeyError, ValueError, OSError):
            self.poller.unregister(conn.sock)

    def _read(self, conn: Any, sock: socket.socket) -> None:
        try:
            part = sock.recv(64 * 1024)
        except BlockingIOError:
            return
        except OSError:
            part = b""
        if not part:
            self._close(conn)
        elif conn.incoming:
            self._take(conn, part)

    def _take(self, conn: Any, part: bytes) -> None:
        try:
            ready = conn.incoming.add(part)
        except TooLargeError as error:
            self._refuse(conn, *error.args)
        except OSError as error:
            self._refuse(conn, 503, "Service Unavailable", f"The request could not be kept: {error.strerror}.")
        else:
            conn.timeout = min(conn.timeout + len(part) / BYTES_A_SECOND, time.monotonic() + SECONDS)
            if ready:
                self._wait_no_more(conn)
                conn.initialized = True
                conn.parser = http.get_parser(self.cfg, conn.incoming, conn.client)
                super().enqueue_req(conn)

    def handle_request(self, req: Any, conn: Any) -> Any:
        # It was said before the body came.
        req._expected_100_continue = False
        if conn.incoming.is_long:
            # Nobody reads to its end what the application left of a long body.
            req.force_close()
        return super().handle_request(req, conn)

    def _keepalive_after(self, conn: Any, keepalive: bool) -> bool:
        if not keepalive or not conn.parser.finish_body():
            return False
        unreader = conn.parser.unreader
        unreader.unread(ahead := unreader.take_buffered() + conn.incoming.recv(-1))
        # Where gunicorn ended the request elsewhere, the next one would not begin where its client began it.
        return len(ahead) == int(conn.incoming.ahead)

    def finish_request(self, conn: Any, fs: Future[Any]) -> None:
        if fs.cancelled() or fs.exception() or fs.result():
            super().finish_request(conn, fs)
        else:
            # Gunicorn would wait for the client in its loop, and everybody for it.
            self._let_close(conn)

    def _refuse(self, conn: Any, status: int, reason: str, sentence: str) -> None:
        self.log.warning("Refused a request from %s: %s", conn.client, sentence)
        with suppress(OSError):
            util.write_error(conn.sock, status, reason, sentence)
        self._let_close(conn)

    def _let_close(self, conn: Any) -> None:
        self._wait_no_more(conn)
        conn.incoming = conn.parser = None
        try:
            conn.sock.shutdown(socket.SHUT_WR)
            self._wait(conn, CLOSING_SECONDS)
        except OSError:
            self._close(conn)

    def _close(self, conn: Any) -> None:
        self._wait_no_more(conn)
        self.nr_conns -= 1
        conn.close()

    def murder_pending(self) -> None:
        """Gunicorn's loop calls this each time that it looks for connections to end, at least once a second."""
        now = time.monotonic()
        if now < self._looked + 0.5:
            return
        self._looked = now
        for conn in list(self._waiting):
            has_begun = conn.incoming and conn.incoming.size
            if not self.alive and not has_begun:
                # A request may be on its way to a process that ends, but not for long.
                conn.timeout = min(conn.timeout, now + CLOSING_SECONDS)
            if now > conn.timeout and has_begun:
                self._refuse(conn, 408, "Request Timeout", "It came too slowly.")
            elif now > conn.timeout:
                self._close(conn)
