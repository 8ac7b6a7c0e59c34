"""HTTP as a browser speaks it: cookies, redirects, forms. Every request counts against one limit for all."""

from __future__ import annotations

import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from common.configuration import is_home
from hits.crowd.html import Form, Node, parse

TIMEOUT_SECONDS = 30


class RemoteRefusedError(ValueError):
    """An address that is not on this machine, without leave to go there."""


class OutOfRequestsError(Exception):
    """The crowd has used up its requests."""


class UnreachableError(Exception):
    """No answer, or one that says that the server is in trouble: worth another try later."""


class PageTimes:
    """How the sites answered all browsers: how often, after how long at most, and how often not at all.

    Who gets no answer has waited for as long as the browser does; that is no answer's time.
    """

    def __init__(self) -> None:
        self.pages = self.silent = 0
        self.slowest, self.slowest_path = 0.0, ""
        self._lock = threading.Lock()

    def note(self, url: str, seconds: float, *, answered: bool) -> None:
        with self._lock:
            self.pages += 1
            self.silent += not answered
            if answered and seconds > self.slowest:
                self.slowest, self.slowest_path = seconds, urlsplit(url).path

    def sentence(self) -> str:
        return (
            f"{self.pages} pages, the slowest after {self.slowest:.2f} s ({self.slowest_path}), "
            f"{self.silent} not answered or with an error of the server."
        )


class Allowance:
    """How many requests may still go out, counted over all browsers and threads, and how they were answered."""

    def __init__(self, requests: int) -> None:
        self.times = PageTimes()
        self._left = requests
        self._lock = threading.Lock()

    def take(self) -> None:
        with self._lock:
            if self._left <= 0:
                raise OutOfRequestsError
            self._left -= 1


@dataclass(frozen=True)
class Reply:
    """`url` is where the redirects ended."""

    url: str
    status: int
    body: str

    @property
    def page(self) -> Node:
        return parse(self.body)


class Browser:
    """With `cookies` a person's browser; without, a frame whose third-party cookies are blocked."""

    def __init__(
        self, allowance: Allowance, *, cookies: bool, allow_remote: bool = False, patience: float = TIMEOUT_SECONDS
    ) -> None:
        self._patience = patience
        self._allowance = allowance
        self._allow_remote = allow_remote
        handlers: list[Any] = [urllib.request.ProxyHandler({}), _GuardedRedirects(self._pass)]
        if cookies:
            handlers.append(urllib.request.HTTPCookieProcessor(CookieJar()))
        self._opener = urllib.request.build_opener(*handlers)

    def get(self, url: str) -> Reply:
        return self._open(urllib.request.Request(url, headers={"Accept": "text/html"}))

    def post(self, url: str, fields: Mapping[str, str], origin: str = "", referer: str = "") -> Reply:
        """`origin` and `referer` are sent as a browser sends them with a form."""
        headers = {"Accept": "text/html,application/json"}
        headers |= {"Origin": origin} if origin else {}
        headers |= {"Referer": referer} if referer else {}
        return self._open(urllib.request.Request(url, urlencode(fields).encode(), headers))

    def send(self, form: Form, page_url: str, **values: str) -> Reply:
        """Send a form of the page at `page_url`, with these fields filled in."""
        fields = {**form.fields, **values}
        address = urljoin(page_url, form.action)
        return self.post(address, fields, origin=origin_of(page_url), referer=page_url)

    def _pass(self, url: str) -> None:
        """Raises RemoteRefusedError, OutOfRequestsError."""
        refuse_remote(url, allow_remote=self._allow_remote)
        self._allowance.take()

    def _open(self, request: urllib.request.Request) -> Reply:
        self._pass(request.full_url)
        began, answered = time.monotonic(), False
        try:
            reply = self._answer(request)
            answered = True
            return reply
        except (OSError, HTTPException) as error:
            # Also in the middle of a reply: the program that was writing it can be killed.
            raise UnreachableError(f"{request.full_url}: {error}") from error
        finally:
            self._allowance.times.note(request.full_url, time.monotonic() - began, answered=answered)

    def _answer(self, request: urllib.request.Request) -> Reply:
        try:
            with self._opener.open(request, timeout=self._patience) as response:
                return Reply(response.url, response.status, response.read().decode("utf-8", "replace"))
        except urllib.error.HTTPError as error:
            with error:
                if error.code >= 500:
                    raise UnreachableError(f"{request.full_url} answered {error.code}") from error
                return Reply(error.url, error.code, error.read().decode("utf-8", "replace"))


class _GuardedRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is a request like any other, also where it may go and that it counts."""

    def __init__(self, guard: Callable[[str], None]) -> None:
        self._guard = guard

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        self._guard(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def refuse_remote(url: str, *, allow_remote: bool) -> None:
    """Raises RemoteRefusedError."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        raise RemoteRefusedError(f"{url} is no http address.")
    if not allow_remote and not is_home(url):
        raise RemoteRefusedError(
            f"{parts.hostname} is not this machine. A simulated crowd belongs into a sandbox: "
            "if this one is yours, say --allow-remote."
        )


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
