"""Counting what strangers do, a minute or a longer window at a time, for all processes together.

While Redis is away, each process counts by itself (`annotate.cache`).
"""

from __future__ import annotations

import time

from django.core.cache import cache

WINDOW_SECONDS = 60


def allow(name: str, most: int, times: int = 1, seconds: int = WINDOW_SECONDS) -> bool:
    """Count so many more under this name; whether they are among the first `most` of this window of so many seconds."""
    return _count(f"rate:{name}:{seconds}:{int(time.time()) // seconds}", times, seconds) <= most


def first_in(name: str, seconds: float) -> bool:
    """Whether nobody has asked under this name for so many seconds."""
    return bool(cache.add(f"first:{name}", 1, seconds))


def _count(key: str, times: int, seconds: int) -> int:
    if cache.add(key, times, 2 * seconds):
        return times
    try:
        return cache.incr(key, times)
    except ValueError:
        # It ran out between the two calls, or Redis went or came.
        return times
