"""HTTP by the crowd, against a small server in this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hits.crowd.browser import (
    Allowance,
    Browser,
    OutOfRequestsError,
    RemoteRefusedError,
    UnreachableError,
    refuse_remote,
)
from hits.crowd.html import Form


class Site(BaseHTTPRequestHandler):
    """/cookie sets one, /far leads away, /near leads to /seen, which says what it was sent.

    /cut-200 and /cut-404 announce more than they send.
    """

    def do_GET(self) -> None:
        if self.path == "/far":
            return self._reply(302, Location="http://192.0.2.1/")
        if self.path == "/near":
            return self._reply(302, Location="/seen")
        if self.path.startswith("/cut-"):
            return self._reply(int(self.path[5:]), "begun", length=20)
        if self.path == "/broken":
            return self._reply(503)
        if self.path == "/cookie":
            return self._reply(200, "set", **{"Set-Cookie": "session=abc; Path=/"})
        self._reply(200, f"cookie={self.headers.get('Cookie', 'none')}")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._reply(409, f"{self.headers.get('Origin')} {self.headers.get('Referer')} {body}")

    def _reply(self, status: int, body: str = "", length: int = 0, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length or len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        return None


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_a_person_keeps_cookies_and_a_frame_does_not(site: str) -> None:
    person, frame = (Browser(Allowance(10), cookies=cookies) for cookies in (True, False))
    for browser in (person, frame):
        browser.get(f"{site}/cookie")
    assert person.get(f"{site}/seen").body == "cookie=session=abc"
    assert frame.get(f"{site}/seen").body == "cookie=none"


def test_a_form_goes_where_it_says_with_the_page_as_its_origin(site: str) -> None:
    reply = Browser(Allowance(1), cookies=True).send(Form("/x", "post", {"a": "1"}), f"{site}/page", b="é")
    assert reply.status == 409
    assert reply.body == f"{site} {site}/page a=1&b=%C3%A9"


def test_a_redirect_is_followed_and_counted(site: str) -> None:
    allowance = Allowance(3)
    assert Browser(allowance, cookies=True).get(f"{site}/near").url == f"{site}/seen"
    allowance.take()
    with pytest.raises(OutOfRequestsError):
        allowance.take()


def test_it_stops_when_the_requests_are_used_up(site: str) -> None:
    with pytest.raises(OutOfRequestsError):
        Browser(Allowance(0), cookies=True).get(f"{site}/seen")


def test_a_redirect_away_from_this_machine_is_not_followed(site: str) -> None:
    with pytest.raises(RemoteRefusedError, match="--allow-remote"):
        Browser(Allowance(5), cookies=True).get(f"{site}/far")


def test_a_server_in_trouble_or_away_is_worth_another_try(site: str) -> None:
    allowance = Allowance(5)
    browser = Browser(allowance, cookies=True)
    with pytest.raises(UnreachableError, match="503"):
        browser.get(f"{site}/broken")
    with pytest.raises(UnreachableError):
        browser.get("http://127.0.0.1:9/")
    browser.get(f"{site}/seen")
    assert (allowance.times.pages, allowance.times.silent, allowance.times.slowest_path) == (3, 2, "/seen")


@pytest.mark.parametrize("status", [200, 404])
def test_a_reply_that_ends_too_soon_is_worth_another_try(site: str, status: int) -> None:
    with pytest.raises(UnreachableError, match="IncompleteRead"):
        Browser(Allowance(5), cookies=True).get(f"{site}/cut-{status}")


@pytest.mark.parametrize("url", ["http://example.org/", "http://127.0.0.1.example.org/", "file:///etc/passwd"])
def test_it_refuses_other_places(url: str) -> None:
    with pytest.raises(RemoteRefusedError):
        refuse_remote(url, allow_remote=False)


def test_it_goes_elsewhere_when_it_may_but_never_to_a_file() -> None:
    refuse_remote("https://sandbox.example.org/", allow_remote=True)
    with pytest.raises(RemoteRefusedError):
        refuse_remote("file:///etc/passwd", allow_remote=True)
