"""A real HTTP server that answers as a test says, one answer after another, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Answer:
    """`body` is sent as JSON unless it is bytes. `cut`: so many bytes of it come, and then the connection ends, `drop`:
    the connection ends without a word. `silence`: seconds before anything is sent.
    """

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    drop: bool = False
    silence: float = 0


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """The last answer is given again and again."""

    def __init__(self, port: int, answers: list[Answer]) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.answers = answers
        self.asked: list[Asked] = []

    def take(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def refusal(status: int, code: str, message: str = "No.", details: object = None, **headers: str) -> Answer:
    """In the one shape that the API refuses in."""
    body = {"error": {"code": code, "message": message, "details": details or {}}}
    return Answer(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


@contextmanager
def serving(*answers: Answer) -> Iterator[Server]:
    server: Server

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            server.asked.append(Asked(self.command, parts.path, dict(parse_qsl(parts.query)), dict(self.headers), body))
            answer = server.take()
            time.sleep(answer.silence)
            if answer.drop:
                self.close_connection = True
                return
            content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(content)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content[: answer.cut])
            self.close_connection = self.close_connection or answer.cut is not None

        do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(listening.server_address[1], list(answers))
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
