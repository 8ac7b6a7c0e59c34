"""Who gets which frame, from which host, with which policy."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.checks import CheckMessage
from django.test import Client
from lxml import etree

from marketplace import checks
from marketplace.models import Assignment, Hit, HitType, Worker
from marketplace.rules.questions.html import HtmlQuestion, html_question_xml
from marketplace.site import frames
from marketplace.verbs import assignments, clock
from tests.marketplace.rules.questions.test_forms import REQUIRED, choices, form_xml, question
from tests.markup import squeezed

PAGE = html_question_xml(HtmlQuestion("<p id='task'>Read</p><form><input name='a'><button>Send</button></form>", 450))
FORM = form_xml(question("<FreeTextAnswer/>", "name", REQUIRED), question(choices("a", "b"), "pick"))
FRAMES = Client(HTTP_HOST="localhost:8001")
SITE = Client(HTTP_HOST="127.0.0.1:8001")


@pytest.fixture
def hold(make_hit: Callable[..., Hit], hit_type: HitType, worker: Worker, now: Any) -> Callable[[str], Assignment]:
    def make(xml: str) -> Assignment:
        make_hit(hit_type, question=xml)
        return assignments.accept(hit_type, worker, now)

    return make


def path_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


@pytest.mark.parametrize(("xml", "shown"), [(PAGE, "id='task'"), (FORM, "question-form")])
def test_the_frame_is_served_from_its_own_host_without_any_cookie(
    hold: Callable[[str], Assignment], worker: Worker, xml: str, shown: str
) -> None:
    held = hold(xml)
    frame = frames.work_frame(held, worker)
    assert frame.url.startswith("http://localhost:8001/frame/")
    assert parse_qs(urlsplit(frame.url).query) == {
        "assignmentId": [held.assignment_id],
        "hitId": [held.hit.hit_id],
        "workerId": [worker.worker_id],
        "turkSubmitTo": ["http://127.0.0.1:8001"],
    }
    answer = FRAMES.get(path_of(frame.url))
    assert answer.status_code == 200 and shown in answer.text and held.assignment_id in answer.text
    assert not answer.cookies and "X-Frame-Options" not in answer.headers
    assert SITE.get(path_of(frame.url)).status_code == 404


@pytest.mark.parametrize("xml", [PAGE, FORM])
def test_the_policy_lets_only_the_site_frame_it_and_only_the_site_take_answers(
    hold: Callable[[str], Assignment], worker: Worker, xml: str
) -> None:
    frame = frames.work_frame(hold(xml), worker)
    answer = FRAMES.get(path_of(frame.url))
    policy = dict(part.strip().partition(" ")[::2] for part in answer.headers["Content-Security-Policy"].split(";"))
    assert policy["frame-ancestors"] == "http://127.0.0.1:8001"
    assert policy["form-action"] == "http://127.0.0.1:8001/mturk/externalSubmit"
    for flags in (policy["sandbox"], frame.sandbox):
        assert "allow-same-origin" not in flags and "top-navigation" not in flags
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    if xml == FORM:
        assert policy["default-src"] == "'none'" and "script-src" not in policy


@pytest.mark.parametrize("xml", [PAGE, FORM])
@pytest.mark.parametrize(("site", "plain"), [("http://127.0.0.1:8001", True), ("https://crowd.example.org", False)])
def test_files_come_by_plain_http_only_where_the_site_does(
    hold: Callable[[str], Assignment], worker: Worker, settings: Any, xml: str, site: str, plain: bool
) -> None:
    held = hold(xml)
    settings.MARKETPLACE_PUBLIC_URL = site
    settings.MARKETPLACE_FRAMES_URL = "http://localhost:8001" if plain else "https://localhost:8001"
    answer = FRAMES.get(path_of(frames.work_frame(held, worker).url))
    policy = dict(part.strip().partition(" ")[::2] for part in answer.headers["Content-Security-Policy"].split(";"))
    sources = policy["default-src" if xml == PAGE else "img-src"].split()
    assert ("http:" in sources, "https:" in sources) == (plain, True)


def test_a_page_elsewhere_keeps_its_own_origin(held: Assignment, worker: Worker) -> None:
    frame = frames.work_frame(held, worker)
    assert "allow-same-origin" in frame.sandbox and frame.url.startswith("https://tasks.example.org/")


def test_a_token_of_another_or_a_forged_or_an_old_one_opens_nothing(
    hold: Callable[[str], Assignment], worker: Worker, other_worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = hold(PAGE)
    path = path_of(frames.work_frame(held, worker).url)
    theirs = frames.work_frame(held, other_worker).url
    assert FRAMES.get(path_of(theirs)).status_code == 410
    assert FRAMES.get(path.replace("/frame/", "/frame/x")).status_code == 404
    assert FRAMES.get(f"/frame/{held.pk}/").status_code == 404
    monkeypatch.setattr(frames, "TOKEN_SECONDS", -1)
    late = FRAMES.get(path)
    assert late.status_code == 403 and "Read" not in late.text


def test_what_is_no_longer_in_hand_is_no_longer_shown(
    hold: Callable[[str], Assignment], worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = hold(PAGE)
    path = path_of(frames.work_frame(held, worker).url)
    moved = clock.now() + timedelta(hours=1)
    with monkeypatch.context() as later:
        later.setattr(clock, "now", lambda: moved)
        assert FRAMES.get(path).status_code == 410
    assignments.give_back(held, worker, clock.now())
    assert FRAMES.get(path).status_code == 410


def test_the_preview_names_nobody(hold: Callable[[str], Assignment], worker: Worker) -> None:
    held = hold(PAGE)
    frame = frames.preview_frame(held.hit, worker)
    assert worker.worker_id not in frame.url and held.assignment_id not in frame.url
    assert 'value="ASSIGNMENT_ID_NOT_AVAILABLE"' in FRAMES.get(path_of(frame.url)).text


def test_the_frames_host_of_a_server_has_nothing_of_the_site(settings: Any, db: None) -> None:
    settings.MARKETPLACE_PUBLIC_URL = "https://crowd.example.org"
    settings.MARKETPLACE_FRAMES_URL = "https://frames.example.net"
    settings.ALLOWED_HOSTS = ["*"]
    browser = Client(HTTP_HOST="frames.example.net")
    for path in ("/", "/accounts/login/", "/worker/", "/mturk/externalSubmit", "/operator/"):
        answer = browser.get(path)
        assert (answer.status_code, dict(answer.cookies)) == (404, {})
        assert "Nothing here" in answer.text
    assert browser.post("/", b"{}", "application/json").status_code == 404
    assert browser.get("/static/frames/task.js").status_code == 200
    assert Client(HTTP_HOST="crowd.example.org").get("/frame/x/").status_code == 404


@pytest.mark.parametrize(
    "spelling", ["FRAMES.example.net", "frames.example.net.", "frames.example.net:443", "Frames.Example.Net.:8443"]
)
def test_no_spelling_of_the_frames_host_shows_the_site(settings: Any, db: None, spelling: str) -> None:
    settings.MARKETPLACE_PUBLIC_URL = "https://crowd.example.org"
    settings.MARKETPLACE_FRAMES_URL = "https://frames.example.net"
    settings.ALLOWED_HOSTS = ["crowd.example.org", "frames.example.net"]
    answer = Client(HTTP_HOST=spelling).get("/accounts/login/")
    assert answer.status_code in (400, 404)
    assert "password" not in answer.text and not answer.cookies


def test_a_form_is_checked_again_and_shown_again_with_what_was_typed(hold: Callable[[str], Assignment]) -> None:
    held = hold(FORM)
    sent = {"assignmentId": held.assignment_id, "name": " ", "pick": "b"}
    answer = SITE.post("/mturk/externalSubmit", sent)
    assert answer.status_code == 422
    shown = squeezed(answer)
    assert 'id="q1-fault">Answer this question.' in shown and 'value="b" id="q2-2" checked' in shown
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    held.refresh_from_db()
    assert held.status == Assignment.Status.ACCEPTED
    assert SITE.post("/mturk/externalSubmit", sent | {"name": "Zoë", "more": "dropped"}).status_code == 200
    held.refresh_from_db()
    answers = [[child.text for child in node] for node in etree.fromstring(held.answer.encode())]
    assert answers == [["name", "Zoë"], ["pick", "b"]]
    assert "This answer was not recorded" in SITE.post("/mturk/externalSubmit", sent).text
    again = SITE.post("/mturk/externalSubmit", sent | {"name": "Zoë", "more": "dropped"})
    assert "This very answer arrived before" in again.text


def test_the_text_of_a_requester_is_text_in_a_form(hold: Callable[[str], Assignment], worker: Worker) -> None:
    nasty = "<script>alert(1)</script>"
    xml = form_xml(
        question("<FreeTextAnswer/>", nasty.replace("<", "&lt;"), content=f"<Text><![CDATA[{nasty}]]></Text>")
    )
    page = FRAMES.get(path_of(frames.work_frame(hold(xml), worker).url)).text
    assert nasty not in page
    assert re.search(r'name="&lt;script&gt;', page)


def test_the_count_of_queries_does_not_follow_the_size_of_a_form(
    hold: Callable[[str], Assignment], worker: Worker, django_assert_num_queries: Any
) -> None:
    xml = form_xml(*(question(choices("a", "b"), f"q{number}") for number in range(40)))
    path = path_of(frames.work_frame(hold(xml), worker).url)
    with django_assert_num_queries(1):
        FRAMES.get(path)


@pytest.mark.parametrize(
    ("public", "own", "found"),
    [
        ("https://c.example", "https://f.example", []),
        ("http://127.0.0.1:8001", "", []),
        ("https://c.example", "https://c.example:444", ["marketplace.E020"]),
        ("https://c.example", "", ["marketplace.W020"]),
        # It has no other name to borrow.
        ("http://127.0.0.2:8001", "", ["marketplace.W020"]),
        ("https://c.example", "http://f.example", ["marketplace.E021"]),
    ],
)
def test_a_wrong_host_for_frames_is_noticed_at_start(settings: Any, public: str, own: str, found: list[str]) -> None:
    settings.MARKETPLACE_PUBLIC_URL, settings.MARKETPLACE_FRAMES_URL = public, own
    messages: list[CheckMessage] = list(checks.frames_have_their_own_host(None))
    assert [message.id for message in messages] == found
