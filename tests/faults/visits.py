"""People who look in while something is broken: each answer is noted with the time that it took."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import requests

from tests.faults.installation import LONGEST_PAGE_SECONDS, Installation

PASSWORD = "a-lead-who-looks-in"
PREPARE = """
from django.contrib.auth import get_user_model
from hits.accounts.verbs.api_tokens import make_token
from hits.models import Membership
visitor = get_user_model().objects.create_user("visitor", password={password!r})
Membership.objects.create(project_id={project}, user=visitor, role=Membership.Role.OWNER)
print(make_token(visitor, "visits", "pay")[1])
"""
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


@dataclass(frozen=True)
class Visit:
    what: str
    status: int
    seconds: float
    later: bool = False

    @property
    def wrong(self) -> str:
        """A sentence, or nothing."""
        return self.wrong_beyond(LONGEST_PAGE_SECONDS)

    def wrong_beyond(self, longest: float) -> str:
        """As `wrong`, where a page may take so many seconds, or say when to come again."""
        if self.status == 503 and self.later and self.seconds <= longest:
            return ""
        if self.status >= 400 or not self.status:
            return f"{self.what} was answered with {self.status or 'nothing'}"
        if self.seconds > longest:
            return f"{self.what} took {self.seconds:.1f} seconds"
        return ""


class Visitors:
    """A lead and a worker who sign in anew each time and walk through the pages."""

    def __init__(self, it: Installation) -> None:
        self.it = it
        prepare = PREPARE.format(password=PASSWORD, project=it.project["project"])
        self.token = it.stack.manage("shell", "-v", "0", "-c", prepare).split()[-1]
        self._worker_password = it.stack.market("createworker", "visitor").split()[1]

    def walk(self) -> list[Visit]:
        return [*self._lead(), *self._worker()]

    def _lead(self) -> Iterator[Visit]:
        ask = _Browser(self.it.stack.web_url)
        yield from ask.sign_in("/sign-in/", "visitor", PASSWORD)
        project = f"/projects/{self.it.project['slug']}/"
        stage = f"{project}stages/validate/"
        for path in ("/", project, stage, f"{stage}answers/", f"{stage}workers/", "/marketplace-calls/"):
            yield ask.get(path)
        ask.session.headers["Authorization"] = f"Token {self.token}"
        yield ask.get(f"/api{project}")
        yield ask.say(f"/api{project}stages/validate/harvest/", ask.session.post, json={})

    def _worker(self) -> Iterator[Visit]:
        ask = _Browser(self.it.stack.marketplace_url)
        yield from ask.sign_in("/accounts/login/", "visitor", self._worker_password)
        for path in ("/", "/worker/", "/health/"):
            yield ask.get(path)


class _Browser:
    def __init__(self, root: str) -> None:
        self._root = root
        self.session = requests.Session()
        self.session.trust_env = False
        self.text = ""

    def get(self, path: str) -> Visit:
        return self.say(path, self.session.get)

    def sign_in(self, path: str, name: str, password: str) -> Iterator[Visit]:
        yield self.get(path)
        found = _TOKEN.search(self.text)
        form = {"username": name, "password": password, "csrfmiddlewaretoken": found[1] if found else ""}
        yield self.say(path, self.session.post, data=form)

    def say(self, path: str, verb: Callable[..., requests.Response], **how: Any) -> Visit:
        began = time.monotonic()
        try:
            reply = verb(self._root + path, timeout=4 * LONGEST_PAGE_SECONDS, **how)
            status, self.text, later = reply.status_code, reply.text, "Retry-After" in reply.headers
            # Of each answer on the way: a form leads to a page.
            seconds = max(one.elapsed.total_seconds() for one in (*reply.history, reply))
        except requests.RequestException:
            status, self.text, later, seconds = 0, "", False, time.monotonic() - began
        return Visit(f"{verb.__name__.upper()} {path}", status, seconds, later)
