"""Requests that come slowly, long, in pieces or not to their end hold no thread of the server that we ship."""

from __future__ import annotations

import hashlib
import http.client
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from ops.surroundings import ROOT, free_port
from ops.waiting import until

EACH = 50
PAUSE_SECONDS = 0.2
# `/unread` leaves the body where it is; the others answer with its digest.
PAGE = """
import hashlib

def application(environ, start):
    body = b"" if environ["PATH_INFO"] == "/unread" else environ["wsgi.input"].read()
    said = f"{len(body)} {hashlib.sha256(body).hexdigest()}".encode()
    start("200 OK", [("Content-Length", str(len(said)))])
    return [said]
"""


def digest(body: bytes) -> bytes:
    return f"{len(body)} {hashlib.sha256(body).hexdigest()}".encode()


@contextmanager
def server(folder: Path, set_in_module: str = "", **environment: str) -> Iterator[int]:
    """The port of a server with `ops/gunicorn.py`, for which something of `ops/slow_clients.py` may be set."""
    (folder / "page.py").write_text(PAGE)
    (folder / "config.py").write_text(f"from ops import slow_clients\nfrom ops.gunicorn import *\n{set_in_module}\n")
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "page", "--config", "config.py", "--bind", f"127.0.0.1:{port}"]
    own = {"GUNICORN_WORKERS": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT), **environment}
    with subprocess.Popen(command, cwd=folder, env=os.environ | own, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: _is_up(port), "the first page")
            yield port
        finally:
            process.terminate()
            process.wait(60)


def _is_up(port: int) -> bool:
    with suppress(OSError):
        return ask(port) == digest(b"")
    return False


def ask(port: int, body: bytes = b"", path: str = "/") -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST" if body else "GET", path, body)
        return connection.getresponse().read()
    finally:
        connection.close()


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        yield client


def answer(client: socket.socket) -> tuple[bytes, bytes]:
    """Head and body of the next answer on this connection."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = client.recv(1)
        if not byte:
            raise ConnectionError(f"closed after {head!r}")
        head += byte
    response = client.makefile("rb", buffering=0)
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
    body = b""
    while len(body) < int(lengths[0]):
        body += response.read(int(lengths[0]) - len(body)) or b""
    return head, body


class Slow:
    """EACH connections on which one byte comes after the other, until it is over."""

    def __init__(self, port: int, beginning: bytes) -> None:
        self.clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(EACH)]
        self.ended: dict[socket.socket, bytes] = {}
        self._beginning = beginning
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._send, daemon=True)

    def __enter__(self) -> Slow:
        for client in self.clients:
            client.sendall(self._beginning)
            client.setblocking(False)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join(60)
        for client in self.clients:
            client.close()

    def _send(self) -> None:
        while not self._over.wait(PAUSE_SECONDS):
            for client in [each for each in self.clients if each not in self.ended]:
                try:
                    client.send(b"x")
                    self.ended[client] = client.recv(1000)
                except BlockingIOError:
                    pass
                except OSError:
                    self.ended[client] = b""


HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
FORM = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"
CHUNKS = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\n"


@pytest.mark.parametrize("beginning", [HEAD, FORM, CHUNKS], ids=["head", "form", "chunks"])
def test_beside_slow_clients_everybody_is_answered(tmp_path: Path, beginning: bytes) -> None:
    with server(tmp_path, "slow_clients.SECONDS = 600") as port, Slow(port, beginning) as slow:
        took = []
        for _ in range(10):
            begun = time.monotonic()
            assert ask(port) == digest(b"")
            took.append(time.monotonic() - begun)
            time.sleep(0.5)
        print(f"The slowest of {len(took)} answers took {max(took):.3f} s.")
        assert not slow.ended


@pytest.mark.parametrize("beginning", [HEAD, FORM, CHUNKS], ids=["head", "form", "chunks"])
def test_slow_clients_are_told_so_and_ended(tmp_path: Path, beginning: bytes) -> None:
    with server(tmp_path, "slow_clients.SECONDS = 2") as port, Slow(port, beginning) as slow:
        until(lambda: len(slow.ended) == EACH, "all of them are ended")
        assert {said.split(b"\r\n")[0] for said in slow.ended.values()} == {b"HTTP/1.1 408 Request Timeout"}


def test_a_long_body_may_take_longer_than_a_short_one(tmp_path: Path) -> None:
    body = os.urandom(400_000)
    with server(tmp_path, "slow_clients.SECONDS = 5") as port, connected(port) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 400000\r\n\r\n")
        for start in range(0, len(body), 10_000):
            client.sendall(body[start : start + 10_000])
            time.sleep(0.2)
        assert answer(client)[1] == digest(body)


def test_who_leaves_a_connection_open_after_its_last_answer_keeps_nobody_waiting(tmp_path: Path) -> None:
    with server(tmp_path, "slow_clients.CLOSING_SECONDS = 600") as port:
        clients = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(EACH)]
        begun = time.monotonic()
        for client in clients:
            client.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert answer(client)[1] == digest(b"")
        assert ask(port) == digest(b"")
        assert time.monotonic() - begun < 30
        for client in clients:
            client.close()


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with server(tmp_path_factory.mktemp("server"), "slow_clients.MOST_BYTES = 193 * 1024 * 1024") as running:
        yield running


@pytest.mark.parametrize("size", [0, 1, 64 * 1024, 64 * 1024 + 1, 128 * 1024, 200 * 1024, 3_000_000])
def test_after_a_body_that_nobody_read_the_next_request_is_answered_or_the_head_says_close(
    port: int, size: int
) -> None:
    with connected(port) as client:
        client.sendall(b"POST /unread HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size)
        head, _ = answer(client)
        if b"Connection: close" in head:
            assert client.recv(1) == b""
            assert size > 100_000
        else:
            client.sendall(b"GET /next HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert answer(client)[1] == digest(b"")


def test_as_large_as_a_file_and_its_media_may_be(port: int) -> None:
    body = os.urandom(1024 * 1024) * 192
    assert ask(port, body) == digest(body)


@pytest.mark.parametrize("chunked", [False, True])
def test_larger_ones_are_refused(port: int, chunked: bool) -> None:
    with connected(port) as client:
        if chunked:
            client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nF0000000\r\n")
            with suppress(OSError):
                while True:
                    client.sendall(b"x" * 1024 * 1024)
        else:
            client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 250000000\r\n\r\n")
            assert answer(client)[0].startswith(b"HTTP/1.1 413 Content Too Large")
    assert ask(port) == digest(b"")


@pytest.mark.parametrize("pause", [False, True], ids=["at once", "byte by byte"])
def test_chunks_and_their_trailers(port: int, pause: bool) -> None:
    sent = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    sent += b"3;a=b\r\nab\n\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n"
    with connected(port) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(2):
            for each in [sent[at : at + 1] for at in range(len(sent))] if pause else [sent]:
                client.sendall(each)
                time.sleep(0.001)
            assert answer(client)[1] == digest(b"ab\n0123456789")


def test_chunks_in_a_body_that_is_kept_in_a_file(port: int) -> None:
    body = os.urandom(1_000_000)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/", iter([body[:7], body[7:600_000], body[600_000:]]), encode_chunked=True)
    assert connection.getresponse().read() == digest(body)


def test_a_client_that_waits_to_be_asked_for_its_body_is_asked_once(port: int) -> None:
    with connected(port) as client:
        for _ in range(2):
            client.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
            asked = b"HTTP/1.1 100 Continue\r\n\r\n"
            assert client.recv(len(asked), socket.MSG_WAITALL) == asked
            client.sendall(b"hello")
            assert answer(client)[1] == digest(b"hello")


def test_requests_that_come_before_the_answer_are_answered_in_their_order(port: int) -> None:
    form = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
    bodies = [b"", b"one", b"GET / HTTP/1.1\r\n\r\n", b"x" * 100_000]
    with connected(port) as client:
        client.sendall(b"".join(form % (b"/", len(body), body) for body in bodies) + form % (b"/unread", 4, b"last"))
        for body in [*bodies, b""]:
            assert answer(client)[1] == digest(body)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\nHost: localhost\n\n", b"400"),
        (b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000, b"431"),
        (b"POST / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", b"413"),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na", b"400"),
        (b"POST / HTTP/1.1\r\nContent-Length: five\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\nwhatever\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n", b"400"),
    ],
)
def test_what_is_wrong_is_refused_at_once(port: int, request_: bytes, status: bytes) -> None:
    with connected(port) as client:
        client.sendall(request_)
        head, _ = answer(client)
        assert head.split(b" ")[1] == status
        assert b"Connection: close" in head


def test_clients_that_leave_and_clients_that_rest(port: int) -> None:
    rest = []
    for number in range(200):
        client = socket.create_connection(("127.0.0.1", port), timeout=60)
        client.sendall(FORM + b"x" * number if number % 2 else b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        if number % 2:
            client.close()
        else:
            rest.append(client)
            answer(client)
    assert ask(port, b"form") == digest(b"form")
    for client in rest:
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert answer(client)[1] == digest(b"")
        client.close()


def test_a_server_that_ends_answers_what_has_begun_and_waits_for_nothing_that_has_not(tmp_path: Path) -> None:
    with server(tmp_path, "slow_clients.SECONDS = 600") as port:
        begun, silent = (socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(2))
        begun.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhe")
        assert ask(port) == digest(b"")
        later = threading.Timer(2, begun.sendall, [b"llo"])
        later.start()
    head, body = answer(begun)
    assert body == digest(b"hello")
    assert b"Connection: close" in head
    assert silent.recv(1) == b""


def test_behind_a_proxy_long_bodies_are_not_kept_a_second_time(tmp_path: Path) -> None:
    body = os.urandom(3_000_000)
    with server(tmp_path, PROXIES="1") as port:
        assert ask(port, body) == digest(body)
        with connected(port) as client:
            client.sendall(b"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n" + body[:300_000])
            head, said = answer(client)
            assert said == digest(b"")
            assert b"Connection: close" in head
