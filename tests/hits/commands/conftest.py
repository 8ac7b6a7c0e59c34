"""Commands as whoever runs the server types them."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command

Run = Callable[..., str]


@pytest.fixture
def run() -> Run:
    """`run("check_ledger", "river", "--strict")` returns what was printed. Raises CommandError."""

    def go(name: str, *arguments: Any) -> str:
        out = io.StringIO()
        call_command(name, *map(str, arguments), stdout=out, stderr=out)
        return out.getvalue()

    return go
