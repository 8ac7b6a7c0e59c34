"""What all tests share: no settings or proxy of the shell that started them, and patience with a busy machine."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import BrowserContext, expect

from ops.waiting import PAGE_MILLISECONDS

# Tests speak to this machine alone; a proxy would be asked for loopback addresses too.
for _name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
    os.environ.pop(_name, None)
    os.environ.pop(_name.lower(), None)

# Enough to break when a property breaks. HYPOTHESIS_PROFILE=thorough looks longer. On a busy machine a limit of time
# would fail by chance.
_usual = settings(
    settings.get_profile("ci" if os.environ.get("CI") else "default"),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("quick", parent=_usual, max_examples=50)
settings.register_profile("thorough", parent=_usual, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

expect.set_options(timeout=PAGE_MILLISECONDS)


def pytest_collection_finish() -> None:
    """What is loaded by now stays until the end: the search for garbage leaves it out, and comes less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture
def new_context(new_context: Callable[..., BrowserContext]) -> Callable[..., BrowserContext]:
    """The browser plugin's own, and so that of its `page` and `context`, with the same patience."""

    def patient(**options: object) -> BrowserContext:
        context = new_context(**options)
        context.set_default_timeout(PAGE_MILLISECONDS)
        return context

    return patient
