"""What both projects are watched by: bounded questions, counts of many processes, reports of errors."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from common.asking import Asked, all_of
from common.metrics_folder import FOLDER, make_folder
from ops.surroundings import ROOT

HANGS = 30


def test_a_service_that_hangs_is_waited_for_a_bounded_time_and_asked_once() -> None:
    go, asked = threading.Event(), []

    def hanging() -> str:
        asked.append(1)
        go.wait(HANGS)
        return "at last"

    def failing() -> str:
        raise OSError("refused")

    both = {"hanging": Asked(hanging), "fine": Asked(lambda: "fine"), "failing": Asked(failing)}
    began = time.monotonic()
    for _ in range(3):
        said = all_of(both, 0.3)
        assert isinstance(said["hanging"], TimeoutError) and isinstance(said["failing"], OSError)
        assert said["fine"] == "fine"
    assert time.monotonic() - began < HANGS
    assert asked == [1]
    go.set()
    assert both["hanging"].begin().result(HANGS) == "at last"


COUNT = """
import django, os, sys
from django.conf import settings
settings.configure()
from common import metrics
from prometheus_client.registry import Collector
class Nothing(Collector):
    def collect(self): return iter(())
metrics.REQUESTS.labels("page", "GET", "200").inc(int(sys.argv[1]))
print("counted", flush=True)
sys.stdin.read()
print(metrics.text(Nothing()).decode())
"""


def _counting(folder: Path, number: int) -> subprocess.Popen[str]:
    environment = {**os.environ, FOLDER: str(folder)}
    command = [sys.executable, "-c", COUNT, str(number)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True)
    assert process.stdout and process.stdout.readline() == "counted\n"
    return process


def test_processes_are_added_up_and_one_that_takes_the_place_of_another_goes_on_with_its_count(tmp_path: Path) -> None:
    first, second = _counting(tmp_path, 1), _counting(tmp_path, 10)
    first.communicate("")
    third = _counting(tmp_path, 100)
    said, _ = third.communicate("")
    second.communicate("")
    assert 'http_requests_total{method="GET",status="200",view="page"} 111.0' in said
    assert len(list(tmp_path.glob("counter_*.db"))) == 2


def test_a_folder_of_a_server_that_is_gone_is_removed_and_one_in_use_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_folder()
    try:
        gone = made.with_name(f"{made.name}-gone")
        gone.mkdir()
        (gone / "held").touch()
        other = make_folder()
        assert made.exists() and not gone.exists()
        other.joinpath("held").unlink()
        other.rmdir()
    finally:
        made.joinpath("held").unlink()
        made.rmdir()


class _Sentry(BaseHTTPRequestHandler):
    received: list[str] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.append((gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body).decode())
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def sentry() -> Iterator[int]:
    _Sentry.received = []
    server = HTTPServer(("127.0.0.1", 0), _Sentry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


FAIL = """
import io, os
from unittest import mock
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings.annotate"
from django.core.wsgi import get_wsgi_application
from wsgiref.util import setup_testing_defaults
import sentry_sdk
application = get_wsgi_application()

def fail(*arguments):
    answer = "the-answer-of-a-person"
    raise ValueError("It failed.\\nDETAIL: Key (email)=(person@example.org)")

body = b"page=a-signed-token&remark=typed-by-a-person"
environ = {"REQUEST_METHOD": "POST", "PATH_INFO": "/task/check/", "QUERY_STRING": "q=in-the-address",
    "CONTENT_TYPE": "application/x-www-form-urlencoded", "CONTENT_LENGTH": str(len(body)), "HTTP_HOST": "localhost",
    "HTTP_COOKIE": "annotate_session=cookie-of-a-person", "HTTP_X_FORWARDED_FOR": "198.51.100.9"}
setup_testing_defaults(environ)
environ["wsgi.input"] = io.BytesIO(body)
statuses = []
with mock.patch("hits.answers.verbs.serving.read_page_token", fail):
    list(application(environ, lambda status, headers: statuses.append(status)))
assert statuses == ["500 Internal Server Error"], statuses
sentry_sdk.flush(20)
"""


def _fail(dsn: str) -> None:
    environment = {**os.environ, "SENTRY_DSN": dsn}
    subprocess.run([sys.executable, "-c", FAIL], cwd=ROOT, env=environment, check=True, timeout=300)


def test_what_nobody_caught_is_reported_without_anything_of_people(sentry: int) -> None:
    _fail(f"http://key@127.0.0.1:{sentry}/1")
    (report,) = [text for text in _Sentry.received if '"exception"' in text]
    event = next(part for line in report.splitlines() if "exception" in (part := json.loads(line)))
    assert event["exception"]["values"][-1]["value"] == "It failed."
    assert event["tags"]["request_id"] and event["request"] == {"method": "POST"}
    for hidden in ("person", "a-signed-token", "in-the-address", "198.51.100", "annotate_session"):
        assert hidden not in report, hidden


def test_nothing_is_sent_where_no_address_is_set(sentry: int) -> None:
    _fail("")
    assert _Sentry.received == []
