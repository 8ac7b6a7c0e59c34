"""Visitors of the site who follow links, fill in forms with anything, and guess addresses."""

from __future__ import annotations

import random
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from django.urls import URLPattern, URLResolver, get_resolver
from lxml import html

from ops.waiting import PATIENCE_SECONDS
from tests.fuzz.report import Report
from tests.fuzz.values import HOSTILE_TEXTS, Pool

FIELDS = ("next", "page", "q", "sort", "groupId", "hitId", "after", "filtered", "assignmentId", "workerId", "auto")
FIELDS += ("token", "kind", "state", "text", "reason", "username", "password", "decision", "confirmed", "amount")
MAX_PAGE = 2_000_000


def templates() -> list[str]:
    """The addresses of the URLconf, as '/mturk/work/<int:pk>/'."""

    def walk(patterns: list[URLPattern | URLResolver], prefix: str) -> list[str]:
        found = []
        for pattern in patterns:
            here = prefix + str(pattern.pattern)
            found += walk(pattern.url_patterns, here) if isinstance(pattern, URLResolver) else [here]
        return found

    return walk(get_resolver().url_patterns, "/")


class Visitor:
    """One browser; `enter` gives it a new session when it has lost its own."""

    def __init__(self, url: str, enter: Any, draw: random.Random, pool: Pool, report: Report) -> None:
        self.url, self.enter, self.draw, self.pool, self.report = url, enter, draw, pool, report
        self.session: requests.Session = enter()
        self.templates = templates()
        self.links: list[str] = ["/"]
        self.forms: list[tuple[str, str, dict[str, list[str]]]] = []
        self.turned_away = 0

    def step(self) -> None:
        roll = self.draw.random()
        if self.forms and roll < 0.45:
            self._submit()
        elif roll < 0.75:
            self._get(self.draw.choice(self.links))
        elif roll < 0.9:
            self._get(self._guess(), self._fields())
        else:
            self._post(self._guess(), self._fields())
        if self.turned_away > 8:
            self.session, self.turned_away, self.links = self.enter(), 0, ["/"]

    def _guess(self) -> str:
        parts = []
        for part in self.draw.choice(self.templates).split("/"):
            parts.append(self._argument(part) if "<" in part else part)
        return "/".join(parts)

    def _argument(self, part: str) -> str:
        if "int:" in part and self.draw.random() < 0.9:
            return str(self.draw.choice((1, 2, 3, 5, 8, 13, 40, 0, 2**31, 2**63, 10**25)))
        value = self.draw.choice(HOSTILE_TEXTS) if self.draw.random() < 0.3 else self.pool.any(self.draw)
        return requests.utils.quote(value.encode("utf-8", "replace")[:2000], safe="")

    def _fields(self) -> dict[str, list[str]]:
        names = self.draw.sample(FIELDS, self.draw.randint(0, 4))
        return {name: [self._value("")] for name in names}

    def _value(self, given: str) -> str:
        roll = self.draw.random()
        if roll < 0.5:
            return given
        text = self.draw.choice(HOSTILE_TEXTS) if roll < 0.8 else self.pool.any(self.draw)
        return text.encode("utf-8", "replace").decode()

    def _submit(self) -> None:
        method, action, fields = self.draw.choice(self.forms)
        if "logout" in action and self.draw.random() < 0.95:
            return
        spite = self.draw.choice((0, 0, 1))
        sent = {name: [self._value(v) for v in values] if spite else values for name, values in fields.items()}
        if method == "post":
            self._post(action, sent)
        else:
            self._get(action, sent)

    def _get(self, path: str, query: dict[str, list[str]] | None = None) -> None:
        # The web server in front refuses a line of more than 4 kB.
        short = {name: [value[:200] for value in values] for name, values in (query or {}).items()}
        self._ask("GET", path, params=short)

    def _post(self, path: str, fields: dict[str, list[str]]) -> None:
        self._ask("POST", path, data=fields)

    def _ask(self, method: str, path: str, **options: Any) -> None:
        address = urljoin(self.url, path)
        if not address.startswith(self.url):
            return
        if method == "POST" and urlsplit(address).path == "/":
            return
        try:
            response = self.session.request(method, address, allow_redirects=False, timeout=PATIENCE_SECONDS, **options)
        except requests.ConnectionError:
            # Seen as a client sees it: the server may close a kept connection at any time.
            self.report.count("site", "(connection dropped)", 0)
            return
        except requests.RequestException as error:
            self.report.fail(f"{method} {path}", f"{error!r} {str(options)[:1500]}")
            return
        self.report.count("site", f"{method} {self._shape(path)}", response.status_code)
        problem = self._problem(response)
        if problem:
            self.report.fail(f"{method} {path[:300]}", f"{problem}\n  sent {str(options)[:1500]}")
        if response.status_code in (302, 303):
            place = response.headers["Location"]
            self.turned_away += place.startswith("/accounts/login/")
            self.links.append(urljoin(path, place))
        elif response.status_code == 200 and "html" in response.headers.get("Content-Type", ""):
            self._read(path, response.text[:MAX_PAGE])
        del self.links[:-80], self.forms[:-40]

    def _shape(self, path: str) -> str:
        words = urlsplit(path).path.split("/")
        known = {word for template in self.templates for word in template.split("/") if "<" not in word}
        return "/".join(word if word in known else "*" for word in words)[:36]

    def _problem(self, response: requests.Response) -> str:
        if response.status_code >= 500:
            return f"status {response.status_code}"
        if "fuzz" in response.cookies:
            return "a header was injected"
        place = response.headers.get("Location", "")
        # A panel's pages lead back to where the people come from.
        of_panel = "panel" in response.url or "/worker/finish/" in response.url
        if place and not of_panel and urlsplit(urljoin(self.url, place)).netloc != urlsplit(self.url).netloc:
            return f"sent elsewhere: {place}"
        if "html" in response.headers.get("Content-Type", ""):
            if "<script>fuzz" in response.text:
                return "a script came back as it was sent"
            of_web_server = response.status_code == 400 and "<h1><p>Bad Request</p></h1>" in response.text
            if "Content-Security-Policy" not in response.headers and not of_web_server:
                return "no Content-Security-Policy"
        return ""

    def _read(self, path: str, text: str) -> None:
        page = html.fromstring(text)
        self.links += [urljoin(path, link) for link in page.xpath("//a/@href") if not link.startswith(("http", "#"))]
        for form in page.forms:
            fields: dict[str, list[str]] = {}
            for field in form.inputs:
                if field.name:
                    fields.setdefault(field.name, []).append(str(self._filled(field)))
            buttons = [b for b in form.xpath(".//button[@name]")]
            if buttons:
                chosen = self.draw.choice(buttons)
                fields[chosen.get("name")] = [chosen.get("value", "")]
            fields.pop("csrfmiddlewaretoken", None)
            self.forms.append(((form.method or "get").lower(), urljoin(path, form.action or path), fields))

    def _filled(self, field: Any) -> str:
        options = getattr(field, "value_options", None)
        if options:
            return str(self.draw.choice(options))
        if getattr(field, "type", "") in ("checkbox", "radio"):
            return str(field.get("value", "on"))
        value = field.value
        return (
            value if isinstance(value, str) and value else self.draw.choice(("yes", "1", "5.00", "olga", "a@b.example"))
        )
