"""Counters when Redis goes and comes back: the server is real and is really killed."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from annotate import cache
from annotate.cache import PatientRedisCache
from tests.hits.broker import Broker

HANGS = 5.0


@pytest.fixture
def make(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Callable[[], PatientRedisCache]:
    """The cache of another process."""
    monkeypatch.setattr(cache, "ABSENT_SECONDS", 0.2)
    return lambda: PatientRedisCache(broker.url, {})


def test_processes_count_together_while_redis_is_there_and_each_by_itself_while_it_is_not(
    broker: Broker, make: Callable[[], PatientRedisCache]
) -> None:
    one, other = make(), make()
    assert one.add("tries", 1) and not other.add("tries", 1)
    assert other.incr("tries") == 2
    broker.kill()
    began = time.monotonic()
    assert one.add("tries", 1) and not one.add("tries", 1)
    assert [one.incr("tries"), one.get("tries"), one.get_many(["tries", "no"])] == [2, 2, {"tries": 2}]
    assert time.monotonic() - began < HANGS
    broker.start()
    time.sleep(0.3)
    assert one.get("tries") is None
    one.set("tries", 7)
    time.sleep(0.3)
    assert other.get("tries") == 7


def test_a_try_that_failed_is_not_made_again_for_a_while(
    broker: Broker, make: Callable[[], PatientRedisCache], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "ABSENT_SECONDS", 3600)
    one = make()
    broker.kill()
    assert one.get("another") is None
    broker.start()
    one.set("another", 1)
    assert make().get("another") is None
