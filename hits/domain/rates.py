"""Counting what strangers do, a minute at a time, for all processes together."""

from __future__ import annotations

import time

from django.core.cache import cache
from redis.exceptions import RedisError

WINDOW_SECONDS = 60
# Names that one process counts by itself while Redis is away; then it starts again from nothing.
MOST_KEYS = 10_000
_own: dict[str, int] = {}


def allow(name: str, most: int, times: int = 1) -> bool:
    """Count so many more under this name; whether they are among the first `most` of this minute."""
    key = f"rate:{name}:{int(time.time()) // WINDOW_SECONDS}"
    try:
        return _count(key, times) <= most
    except (RedisError, OSError):
        return _count_here(key, times) <= most


def first_in(name: str, seconds: float) -> bool:
    """Whether nobody has asked under this name for so many seconds. False while Redis is away."""
    try:
        return bool(cache.add(f"first:{name}", 1, seconds))
    except (RedisError, OSError):
        return False


def _count(key: str, times: int) -> int:
    if cache.add(key, times, 2 * WINDOW_SECONDS):
        return times
    try:
        return cache.incr(key, times)
    except ValueError:
        # It ran out between the two calls.
        return times


def _count_here(key: str, times: int) -> int:
    if len(_own) >= MOST_KEYS and key not in _own:
        _own.clear()
    _own[key] = _own.get(key, 0) + times
    return _own[key]
