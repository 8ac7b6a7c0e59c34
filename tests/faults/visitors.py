"""People with a browser open: they ask the sites again and again, on connections that stay."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import requests

EACH = 2
PAUSE_SECONDS = 0.05


class ReturningVisitors:
    """`with ReturningVisitors(addresses) as visitors:` they come while the block runs.

    `lost` are requests without an answer.

    As a browser does, a visitor asks once more on a new connection when the one that was open is closed under a GET.
    """

    def __init__(self, sites: Sequence[str]) -> None:
        self.lost: list[str] = []
        self.visits = 0
        self.slowest = 0.0
        self._over = threading.Event()
        self._known = threading.Lock()
        self._people = [
            threading.Thread(target=self._visit, args=(site,), daemon=True) for site in sites for _ in range(EACH)
        ]

    @property
    def threads(self) -> int:
        return len(self._people)

    def __enter__(self) -> ReturningVisitors:
        for one in self._people:
            one.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._over.set()
        for one in self._people:
            one.join(120)

    def _visit(self, site: str) -> None:
        session = requests.Session()
        session.trust_env = False
        while not self._over.wait(PAUSE_SECONDS):
            began = time.monotonic()
            said = self._ask(session, site) and self._ask(session, site)
            with self._known:
                self.visits += 1
                self.slowest = max(self.slowest, time.monotonic() - began)
                if said:
                    self.lost.append(f"{site}: {said}")

    @staticmethod
    def _ask(session: requests.Session, site: str) -> str:
        """Why there was no answer; empty: there was one."""
        try:
            reply = session.get(f"{site}/health/", timeout=60)
        except requests.RequestException as error:
            return str(error)
        return "" if reply.ok else str(reply.status_code)
