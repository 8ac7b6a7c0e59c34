"""Counting what strangers do, a minute at a time, for all processes together."""

from __future__ import annotations

import time

from django.core.cache import cache
from redis.exceptions import RedisError

WINDOW_SECONDS = 60
# Names that one process counts by itself while Redis is away; then it starts again from nothing.
MOST_KEYS = 10_000
_own: dict[str, int] = {}


def allow(name: str, most: int) -> bool:
    """Count one more under this name; whether it is among the first `most` of this minute."""
    key = f"rate:{name}:{int(time.time()) // WINDOW_SECONDS}"
    try:
        return _count(key) <= most
    except (RedisError, OSError):
        return _count_here(key) <= most


def first_in(name: str, seconds: float) -> bool:
    """Whether nobody has asked under this name for so many seconds. False while Redis is away."""
    try:
        return bool(cache.add(f"first:{name}", 1, seconds))
    except (RedisError, OSError):
        return False


def _count(key: str) -> int:
    if cache.add(key, 1, 2 * WINDOW_SECONDS):
        return 1
    try:
        return cache.incr(key)
    except ValueError:
        # It ran out between the two calls.
        return 1


def _count_here(key: str) -> int:
    if len(_own) >= MOST_KEYS and key not in _own:
        _own.clear()
    _own[key] = _own.get(key, 0) + 1
    return _own[key]
