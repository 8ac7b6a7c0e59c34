"""Fixtures for all tests of the requester's side."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.cache import cache

from annotate.celery import app
from tests.calm import calm
from tests.hits.broker import broker, own_broker
from tests.hits.market import market, marketplace
from tests.quick_flush import quick_flush

__all__ = ["broker", "calm", "market", "marketplace", "own_broker", "quick_flush"]


@pytest.fixture
def eager() -> Iterator[None]:
    """`task.delay` runs the task at once, in this process, and lets its errors out."""
    app.conf.update(task_always_eager=True, task_eager_propagates=True)
    yield
    app.conf.update(task_always_eager=False, task_eager_propagates=False)


@pytest.fixture(autouse=True)
def no_brakes_from_before() -> Iterator[None]:
    """Counters of attempts live in the cache, which outlives a test."""
    yield
    cache.clear()
