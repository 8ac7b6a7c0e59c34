"""`manage.py crowd` at sites behind a proxy of this machine: `python -m tests.faults.crowd_program [OPTION ...]`.

With CROWD_KEEPS_CONNECTIONS=True its browsers use their connections again, as people's do, and send no form twice.
"""

from __future__ import annotations

import os
import sys
import threading
import urllib.request
from http.cookiejar import DefaultCookiePolicy
from typing import Any, cast

import requests
from requests.adapters import HTTPAdapter

from hits.crowd import browser, worker
from hits.crowd.browser import TIMEOUT_SECONDS, Browser, Reply, UnreachableError
from tests.faults.local_names import know_local_names

# What a proxy says for a server that hung up, or that it could not reach.
RESET_STATUSES = (502, 504)


class Forms:
    """What became of forms that were sent."""

    def __init__(self) -> None:
        self.sent = self.reused = self.resets = self.late = 0
        self._turn = threading.Lock()

    def note(self, *, reused: bool, reset: bool, late: bool) -> None:
        with self._turn:
            self.sent += 1
            self.reused += reused
            self.resets += reset
            self.late += late

    def sentence(self) -> str:
        return (
            f"{self.sent} forms, {self.reused} on connections that were used before, {self.resets} reset, "
            f"{self.late} given up after {TIMEOUT_SECONDS} s or more"
        )


forms = Forms()


class _Connections(HTTPAdapter):
    """Counts those that it opened."""

    def __init__(self) -> None:
        super().__init__()
        self._pools: set[Any] = set()

    def get_connection_with_tls_context(self, *arguments: Any, **more: Any) -> Any:
        pool = super().get_connection_with_tls_context(*arguments, **more)
        self._pools.add(pool)
        return pool

    @property
    def opened(self) -> int:
        return sum(pool.num_connections for pool in self._pools)


class ReturningBrowser(Browser):
    """Keeps its connections open between requests."""

    def __init__(self, *arguments: Any, cookies: bool, **more: Any) -> None:
        super().__init__(*arguments, cookies=cookies, **more)
        self._session = requests.Session()
        self._session.trust_env = False
        self._connections = _Connections()
        self._session.mount("https://", self._connections)
        self._session.verify = os.environ["SSL_CERT_FILE"]
        if not cookies:
            self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))

    def _answer(self, request: urllib.request.Request) -> Reply:
        opened, reset, late = self._connections.opened, True, False
        form = {"Content-Type": "application/x-www-form-urlencoded"} if request.data else {}
        try:
            reply = self._session.request(
                request.get_method(),
                request.full_url,
                data=cast("bytes | None", request.data),
                headers={**form, **dict(request.header_items())},
                timeout=self._patience,
            )
            reset = reply.status_code in RESET_STATUSES
        except requests.Timeout:
            reset, late = False, True
            raise
        finally:
            if request.get_method() == "POST":
                forms.note(reused=opened == self._connections.opened, reset=reset, late=late)
        if reply.status_code >= 500:
            raise UnreachableError(f"{request.full_url} answered {reply.status_code}")
        return Reply(reply.url, reply.status_code, reply.content.decode("utf-8", "replace"))


def main() -> None:
    know_local_names()
    if os.environ.get("CROWD_KEEPS_CONNECTIONS") == "True":
        worker.Browser = browser.Browser = ReturningBrowser  # type: ignore[misc]
    from django.core.management import execute_from_command_line

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")
    try:
        execute_from_command_line(["manage.py", *sys.argv[1:]])
    finally:
        print(forms.sentence(), flush=True)


if __name__ == "__main__":
    main()
