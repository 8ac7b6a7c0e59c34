"""A published HIT, a marketplace that records what is posted to it, and a browser to work in."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from common import request_id
from hits.answers.rules.task_links import task_url
from hits.models import Hit
from ops.waiting import PAGE_MILLISECONDS
from tests.hits import factories as make
from tests.hits.answers import story

WORKER, ASSIGNMENT = "AREADER01", "3ASSIGNMENT01"


class RecordingMarketplace:
    """Takes externalSubmit for real, and can put a page in a frame, as the marketplace's own site does."""

    def __init__(self) -> None:
        self.posted: list[dict[str, str]] = []
        self.framed = ""
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        # Another host name than the live server's: a frame here is cross-origin, also to the eyes of cookies.
        self.origin = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        marketplace = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                assert self.path == "/mturk/externalSubmit"
                fields = dict(parse_qsl(body, keep_blank_values=True))
                # It leads from one log to the next and is no part of the answer.
                assert request_id.usable(fields.pop(request_id.HEADER))
                marketplace.posted.append(fields)
                self._say("<!doctype html><title>Submitted</title><p>Thank you")

            def do_GET(self) -> None:
                self._say(f'<!doctype html><iframe width="1200" height="800" src="{marketplace.framed}"></iframe>')

            def _say(self, html: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(html.encode())

            def log_message(self, *args: Any) -> None:
                pass

        return Handler


@pytest.fixture
def recording_marketplace(settings) -> Iterator[RecordingMarketplace]:
    marketplace = RecordingMarketplace()
    settings.MTURK_SUBMIT_ORIGINS = [marketplace.origin]
    yield marketplace
    marketplace.server.shutdown()
    marketplace.server.server_close()


@pytest.fixture
def hit(db) -> Hit:
    stage = make.stage(settings={"min_seconds": 0})
    document = make.document(stage.project, data=story.DOCUMENT)
    return make.hit(make.item(stage, document=document, data=story.ITEM))


def frame_query(hit: Hit, origin: str, **changes: str) -> dict[str, str]:
    """What the marketplace appends to the address of an accepted HIT."""
    return {
        "assignmentId": ASSIGNMENT,
        "hitId": hit.hit_id or "",
        "workerId": WORKER,
        "turkSubmitTo": origin,
        **changes,
    }


def address(hit: Hit) -> str:
    return "/task/" + task_url(hit.pk).split("/task/")[1]


@pytest.fixture
def open_task(client: Client, recording_marketplace: RecordingMarketplace):
    """Open a HIT's page as the frame does; keywords change the frame's parameters."""

    def open_task(hit: Hit, **changes: str):
        return client.get(address(hit), frame_query(hit, recording_marketplace.origin, **changes))

    return open_task


@pytest.fixture
def task_address(hit: Hit, live_server, recording_marketplace: RecordingMarketplace):
    """The full address of a task page in the live server."""

    def task_address(row: Hit | None = None, **changes: str) -> str:
        row = row or hit
        return f"{live_server.url}{address(row)}?{urlencode(frame_query(row, recording_marketplace.origin, **changes))}"

    return task_address


@pytest.fixture
def new_page(browser: Browser):
    """A page in a fresh browser context; a script error or a refusal by the security policy fails the test."""
    contexts, faults = [], []

    def new_page(width: int = 1280, height: int = 800, strict: bool = True, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        context.set_default_timeout(PAGE_MILLISECONDS)
        page = context.new_page()
        if strict:
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on("console", lambda said: faults.append(said.text) if "Security Policy" in said.text else None)
        return page

    yield new_page
    for context in contexts:
        context.close()
    assert not faults


def instructions_read(page: Page) -> None:
    """As a worker does it who has read the instructions, which are open at first, or on a phone a row that opens."""
    if not page.locator(".instructions[open]").count():
        page.locator(".instructions > summary").click()
    page.locator(".instructions > summary").click()
    expect(page.locator(".instructions-text")).to_be_hidden()
