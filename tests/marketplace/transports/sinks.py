"""Real receivers on this machine: an HTTP server for webhooks that keeps what it got and answers as told."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Hook:
    url: str = ""
    # Answers to give in turn; the last one from then on.
    statuses: list[int] = field(default_factory=lambda: [200])
    headers: dict[str, str] = field(default_factory=dict)
    page: bytes = b""
    got: list[tuple[str, str, Message]] = field(default_factory=list)

    @property
    def bodies(self) -> list[str]:
        return [body for _, body, _ in self.got]


@contextmanager
def hook_server() -> Iterator[Hook]:
    hook = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            hook.got.append((self.path, body, self.headers))
            self.send_response(hook.statuses.pop(0) if len(hook.statuses) > 1 else hook.statuses[0])
            for name, value in hook.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(hook.page)))
            self.end_headers()
            self.wfile.write(hook.page)

        def log_message(self, *given: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    hook.url = f"http://127.0.0.1:{server.server_port}/hook?from=market"
    try:
        yield hook
    finally:
        server.shutdown()
        server.server_close()
