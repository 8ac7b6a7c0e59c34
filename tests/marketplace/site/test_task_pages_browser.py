"""Task pages as others have written them, on an origin of their own, in a browser that blocks third-party cookies."""

import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from django.test import Client
from playwright.sync_api import FrameLocator, Page, Playwright, expect

from marketplace.models import Assignment, Hit, HitType, Worker
from tests.e2e.browsing import person
from tests.marketplace.site.test_pages_axe import make_question, sign_in

Status = Assignment.Status
WORK = re.compile(r"/mturk/work/\d+/$")
FIELDS = """<input type="hidden" name="assignmentId"><input type="hidden" name="workerId">
<label>Answer <input name="answer"></label><button>Submit answer</button>"""
FILL = """<script>
const asked = new URLSearchParams(location.search), form = document.forms[0];
for (const name of ["assignmentId", "workerId"]) if (form.elements[name]) form.elements[name].value = asked.get(name);
form.action = (form.dataset.to || asked.get("turkSubmitTo") + "/mturk/externalSubmit") + (form.dataset.more || "");
</script>"""
NEST = """<h1>Outer</h1><iframe title="Inner" width="500" height="300"></iframe>
<script>document.querySelector("iframe").src = "/post" + location.search;</script>"""
PAGES = {
    "/post": f"<form method='post'>{FIELDS}</form>{FILL}",
    "/get": f"<form method='get'>{FIELDS}</form>{FILL}",
    "/both": f"<form method='post' data-more='?group=1&answer=early'>{FIELDS}</form>{FILL}",
    "/own-server": f"<form method='post' data-to='/redirect'>{FIELDS}</form>{FILL}",
    "/nested": NEST,
    "/open": "<a href='/plain' target='_blank'>Read the text</a>",
    "/plain": "<h1>Text</h1><p id='here'></p><script>here.textContent = 'origin ' + origin</script>",
}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._send(200, PAGES[urlsplit(self.path).path.removesuffix("/task")])

    def do_POST(self) -> None:
        """A requester's own server that keeps the answer first and leads the worker on by a redirect."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        submit = f"{self.server.submit_url}?{urlencode(parse_qsl(body))}"  # type: ignore[attr-defined]
        self._send(302, "", Location=submit)

    def _send(self, status: int, body: str, **headers: str) -> None:
        page = f"<!doctype html><html lang='en'><meta charset='utf-8'><title>Task</title>{body}".encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def requester_site(live_server: Any) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.submit_url = f"{live_server.url}/mturk/externalSubmit"  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def careful_page(playwright: Playwright, tmp_path: Path) -> Iterator[Page]:
    with person(playwright, tmp_path / "profile") as page:
        yield page


@pytest.fixture
def start(
    transactional_db: None,
    live_server: Any,
    settings: Any,
    careful_page: Page,
    client: Client,
    hit_type: HitType,
    make_hit: Callable[..., Hit],
    requester_site: str,
) -> Callable[..., FrameLocator]:
    """Publish so many HITs with that page, accept one, and give the frame of its task."""
    settings.MARKETPLACE_PUBLIC_URL = live_server.url
    assert urlsplit(live_server.url).hostname != urlsplit(requester_site).hostname

    def start(path: str, hits: int = 1) -> FrameLocator:
        for _ in range(hits):
            make_hit(hit_type, question=make_question(requester_site + path))
        sign_in(careful_page, client, live_server.url)
        careful_page.goto(live_server.url)
        careful_page.get_by_role("button", name="Start: Pick the entity").click()
        expect(careful_page).to_have_url(WORK)
        return careful_page.frame_locator("iframe.task")

    return start


def answers() -> dict[str, str]:
    (row,) = Assignment.objects.filter(status=Status.SUBMITTED)
    return dict(re.findall("<QuestionIdentifier>(.*?)</QuestionIdentifier><FreeText>(.*?)<", row.answer))


def send(frame: FrameLocator, text: str) -> None:
    frame.get_by_label("Answer").fill(text)
    frame.get_by_role("button", name="Submit answer").click()


@pytest.mark.parametrize(
    ("path", "received"),
    [
        ("/get", {"answer": "Zoë &amp; co"}),
        ("/both", {"group": "1", "answer": "early|Zoë &amp; co"}),
        ("/own-server", {"answer": "Zoë &amp; co"}),
    ],
)
def test_an_answer_in_the_address_arrives_and_the_worker_goes_on(
    start: Callable[..., FrameLocator], careful_page: Page, path: str, received: dict[str, str]
) -> None:
    frame = start(path)
    send(frame, "Zoë & co")
    expect(careful_page.get_by_role("heading", name="That was the last one")).to_be_visible()
    found = {name: value.replace("&#235;", "ë") for name, value in answers().items()}
    assert found == received


def test_an_answer_out_of_a_frame_inside_the_task_leads_on(
    start: Callable[..., FrameLocator], careful_page: Page
) -> None:
    frame = start("/nested", hits=2)
    before = careful_page.url
    send(frame.frame_locator("iframe"), "inside")
    expect(careful_page).not_to_have_url(before)
    expect(careful_page).to_have_url(WORK)
    expect(careful_page.get_by_text("Sent. This is the next one")).to_be_visible()
    assert answers() == {"answer": "inside"}


SEND_AGAIN = """(body, [to, assignment]) => {
  const form = document.createElement("form");
  Object.assign(form, { method: "post", action: to });
  for (const [name, value] of Object.entries({ assignmentId: assignment, answer: "first" })) {
    const field = form.appendChild(document.createElement("input"));
    Object.assign(field, { name, value });
  }
  body.append(form);
  form.submit();
}"""


def test_an_answer_to_an_earlier_hit_in_a_frame_of_the_task_leads_nowhere(
    start: Callable[..., FrameLocator], careful_page: Page, live_server: Any
) -> None:
    frame = start("/nested", hits=3)
    send(frame.frame_locator("iframe"), "first")
    expect(careful_page.get_by_text("Sent. This is the next one")).to_be_visible()
    here, earlier = careful_page.url, Assignment.objects.get(status=Status.SUBMITTED)
    inner = frame.frame_locator("iframe")
    expect(inner.get_by_label("Answer")).to_be_visible()
    inner.locator("body").evaluate(SEND_AGAIN, [f"{live_server.url}/mturk/externalSubmit", earlier.assignment_id])
    expect(inner.get_by_role("heading", name="Already submitted")).to_be_visible()
    # A page that was led on has another address by now.
    careful_page.wait_for_load_state("networkidle")
    assert careful_page.url == here
    assert Assignment.objects.filter(status=Status.ACCEPTED).count() == 1


def test_without_the_site_around_it_the_inner_frame_still_says_submitted(
    start: Callable[..., FrameLocator], careful_page: Page, worker: Worker
) -> None:
    frame = start("/nested")
    careful_page.route("**/marketplace/submitted.js*", lambda route: route.abort())
    send(frame.frame_locator("iframe"), "inside")
    inner = frame.frame_locator("iframe")
    expect(inner.get_by_role("heading", name="Submitted")).to_be_visible()
    inner.get_by_role("link", name="Go on").click()
    expect(careful_page.get_by_role("heading", name="Submitted")).to_be_visible()


def test_a_task_page_may_ask_and_open_pages_that_are_not_in_the_sandbox(
    start: Callable[..., FrameLocator], careful_page: Page, requester_site: str
) -> None:
    frame = start("/open")
    asked: list[str] = []
    careful_page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.accept()))
    assert frame.locator("body").evaluate("() => confirm('Sure?')") is True
    assert asked == ["Sure?"]
    with careful_page.expect_popup() as opened:
        frame.get_by_role("link", name="Read the text").click()
    expect(opened.value.locator("#here")).to_have_text(f"origin {requester_site}")


ALLOWED = """() => ["fullscreen", "microphone", "camera", "geolocation"].filter(
  (feature) => document.featurePolicy.allowsFeature(feature))"""


@pytest.mark.parametrize(
    ("keywords", "allowed"),
    [
        ("reading, camera", []),
        ("Allow-Fullscreen", ["fullscreen"]),
        ("speech, allow-microphone,allow-camera, allow-geolocation", ["microphone", "camera"]),
    ],
)
def test_a_task_page_gets_what_its_hit_type_asks_for(
    start: Callable[..., FrameLocator],
    hit_type: HitType,
    keywords: str,
    allowed: list[str],
) -> None:
    HitType.objects.filter(pk=hit_type.pk).update(keywords=keywords)
    frame = start("/open")
    assert frame.locator("body").evaluate(ALLOWED) == allowed


def test_the_other_answer_of_a_second_tab_is_not_called_sent(
    start: Callable[..., FrameLocator], careful_page: Page
) -> None:
    frame = start("/post", hits=2)
    second = careful_page.context.new_page()
    second.goto(careful_page.url)
    other = second.frame_locator("iframe.task")
    expect(other.get_by_label("Answer")).to_be_visible()
    here = second.url
    send(frame, "first")
    expect(careful_page.get_by_text("Sent. This is the next one")).to_be_visible()
    send(other, "second")
    expect(other.get_by_role("heading", name="This answer was not recorded")).to_be_visible()
    assert answers() == {"answer": "first"}
    # A page that was led on has another address by now.
    second.wait_for_load_state("networkidle")
    assert second.url == here
    expect(second.locator("#sent")).to_be_hidden()
    other.get_by_role("link", name="Go on").click()
    expect(second.get_by_role("heading", name="Submitted")).to_be_visible()
