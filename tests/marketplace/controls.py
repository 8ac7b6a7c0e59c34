"""Turns the test controls of a running marketplace, over HTTP, from whatever process."""

from typing import Any

import requests

from ops.waiting import PATIENCE_SECONDS


class TestControls:
    """`url` is the marketplace's own; it must run with MARKETPLACE_TEST_CONTROLS."""

    __test__ = False

    def __init__(self, url: str) -> None:
        self.url = f"{url}/test-controls/"

    def turn(self, **wanted: Any) -> dict[str, Any]:
        return self._read(requests.post(self.url, json=wanted, timeout=PATIENCE_SECONDS))

    def state(self) -> dict[str, Any]:
        return self._read(requests.get(self.url, timeout=PATIENCE_SECONDS))

    def advance(self, seconds: float) -> None:
        self.turn(advance_seconds=seconds)

    def fail(self, kind: str, operation: str = "", **more: Any) -> None:
        """Let calls fail as told from now on, instead of what was told before; once unless told otherwise."""
        self.turn(faults=[{"kind": kind, "operation": operation, "count": 1, **more}])

    def counts(self) -> dict[str, int]:
        """How many calls of each operation have arrived."""
        counts: dict[str, int] = self.state()["requests"]
        return counts

    @staticmethod
    def _read(response: requests.Response) -> dict[str, Any]:
        if response.status_code != 200:
            raise ValueError(response.text)
        found: dict[str, Any] = response.json()
        return found
