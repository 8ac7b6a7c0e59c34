"""A marketplace that refuses one worker's id: the tests' own takes every one, others need not."""

from __future__ import annotations

from typing import Any

import pytest

from hits.mturk.errors import RefusedError
from hits.mturk.gateway import Gateway

STRANGER = "A000NOTTHERE"


@pytest.fixture
def stranger_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    grant = Gateway.grant

    def unless_refused(self: Gateway, type_id: str, worker_id: str, *given: Any, **named: Any) -> None:
        if worker_id == STRANGER:
            raise RefusedError("InvalidParameterValue", f"Worker {worker_id} does not exist.")
        grant(self, type_id, worker_id, *given, **named)

    monkeypatch.setattr(Gateway, "grant", unless_refused)
