"""Fixtures for all tests of the requester's side."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.cache import cache

from annotate.celery import app
from tests.hits.market import market, marketplace

__all__ = ["market", "marketplace"]


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """`task.delay` runs the task at once, in this process, and lets its errors out."""
    monkeypatch.setattr(app.conf, "task_always_eager", True)
    monkeypatch.setattr(app.conf, "task_eager_propagates", True)


@pytest.fixture(autouse=True)
def no_brakes_from_before() -> Iterator[None]:
    """Counters of attempts live in the cache, which outlives a test."""
    yield
    cache.clear()
