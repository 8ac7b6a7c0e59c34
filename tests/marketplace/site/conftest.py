"""What the tests of the worker's site share: signed-in clients, answers, a browser, a task page elsewhere."""

import os
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from marketplace.models import Assignment, Hit, HitType, Worker
from marketplace.verbs import assignments
from tests.browser import launch_options

# The browser's driver runs an event loop in the thread that also talks to the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

TASK_PAGE = b"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Task</title></head><body>
<main><h1>A task</h1><form method="post"><input type="hidden" name="assignmentId">
<label>Answer <input name="answer"></label><button>Submit answer</button></form></main>
<script>
const asked = new URLSearchParams(location.search);
document.forms[0].action = asked.get("turkSubmitTo") + "/mturk/externalSubmit";
document.forms[0].assignmentId.value = asked.get("assignmentId");
</script></body></html>"""


@pytest.fixture(autouse=True)
def _fresh_cache() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def sign_in() -> Callable[[Worker], Client]:
    def make(worker: Worker) -> Client:
        client = Client()
        client.force_login(worker.user)
        return client

    return make


@pytest.fixture
def client(sign_in: Callable[[Worker], Client], worker: Worker) -> Client:
    """Walter's browser."""
    return sign_in(worker)


@pytest.fixture
def other_worker(make_worker: Callable[..., Worker]) -> Worker:
    return make_worker("olga")


@pytest.fixture
def other_client(sign_in: Callable[[Worker], Client], other_worker: Worker) -> Client:
    """Olga's browser."""
    return sign_in(other_worker)


@pytest.fixture
def held(hit: Hit, hit_type: HitType, worker: Worker, now: datetime) -> Assignment:
    """A HIT that Walter has accepted."""
    return assignments.accept(hit_type, worker, now)


@pytest.fixture
def answer_hits(now: datetime) -> Callable[..., list[Assignment]]:
    """Accept and submit `count` HITs of a group, each after 36 seconds of work."""

    def answer(hit_type: HitType, worker: Worker, count: int, took: timedelta = timedelta(seconds=36)) -> list[Any]:
        done = []
        for _ in range(count):
            assignment = assignments.accept(hit_type, worker, now - took)
            done.append(assignments.submit(assignment.assignment_id, {"answer": ["x"]}, now))
        return done

    return answer


def requirement(
    comparator: str = "Exists", guarded: str = "Accept", type_id: str = "", **values: Any
) -> dict[str, Any]:
    """A qualification requirement as a HIT type stores it."""
    return {"QualificationTypeId": type_id, "Comparator": comparator, "ActionsGuarded": guarded} | values


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    return launch_options()


class _TaskPage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(TASK_PAGE)))
        self.end_headers()
        self.wfile.write(TASK_PAGE)

    def log_message(self, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def task_origin() -> Iterator[str]:
    """A requester's server: another host and another port than the marketplace's."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _TaskPage)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()
