"""A lead's program that listens for webhooks, in a process of its own: `python -m tests.receiver PORT FILE HOW`.

Each request becomes a line of JSON in FILE when it comes in. HOW is JSON: `statuses` in turn, the last one from then
on; `by_type` a status by the type of the event; `headers` of each answer; `seconds` before it answers, from the
request number `slow_from` on; `endless` for a page that never ends; `raw` is written in the place of any answer, a byte
for each character.
"""

from __future__ import annotations

import base64
import hmac
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ops.surroundings import ROOT, free_port

PATIENCE_SECONDS = 60


def listen(port: int, file: Path, how: dict[str, Any]) -> None:
    statuses = list(how.get("statuses", [204]))
    lock = threading.Lock()
    count = 0

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            nonlocal count
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            with lock:
                count += 1
                number = count
                with file.open("a") as out:
                    out.write(json.dumps({"headers": dict(self.headers), "body": body, "path": self.path}) + "\n")
                status = statuses.pop(0) if len(statuses) > 1 else statuses[0]
            if number >= how.get("slow_from", 1):
                time.sleep(how.get("seconds", 0))
            if "raw" in how:
                self.wfile.write(how["raw"].encode("latin-1"))
                return
            self.send_response(how.get("by_type", {}).get(json.loads(body)["type"], status))
            for name, value in how.get("headers", {}).items():
                self.send_header(name, value)
            self.end_headers()
            while how.get("endless"):
                self.wfile.write(b"x" * 100_000)

        def log_message(self, *given: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    print("listens", flush=True)
    server.serve_forever(poll_interval=0.02)


class Receiver:
    """Of a test: `begin` and `end` start and stop the process; `got` is what came in, in its order."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}/hook"
        self.file = folder / f"receiver-{self.port}"
        self._process: subprocess.Popen[str] | None = None

    def begin(self, **how: Any) -> None:
        self.end()
        command = [sys.executable, "-m", "tests.receiver", str(self.port), str(self.file), json.dumps(how)]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout and self._process.stdout.readline() == "listens\n"

    def end(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait(PATIENCE_SECONDS)
            assert self._process.stdout
            self._process.stdout.close()
            self._process = None

    @property
    def got(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.file.read_text().splitlines()] if self.file.exists() else []

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(one["body"]) for one in self.got]

    @property
    def attempts(self) -> list[tuple[str, int]]:
        """(id of the message, number of the attempt)."""
        return [(one["headers"]["webhook-id"], int(one["headers"]["webhook-attempt"])) for one in self.got]


@contextmanager
def receiver(folder: Path) -> Iterator[Receiver]:
    made = Receiver(folder)
    try:
        yield made
    finally:
        made.end()


def is_signed(one: dict[str, Any], secret: str, seconds: int = 60) -> bool:
    """Written out as a receiver does it, with nothing of the sender's code."""
    key, headers = base64.b64decode(secret.removeprefix("whsec_")), one["headers"]
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{one['body']}".encode()
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    is_fresh = abs(time.time() - int(headers["webhook-timestamp"])) < seconds
    return is_fresh and expected in headers["webhook-signature"].split()


if __name__ == "__main__":
    listen(int(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3]))
