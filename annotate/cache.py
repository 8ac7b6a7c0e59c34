"""The cache of counters: in Redis for all processes together, in this process alone while Redis is away."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import RedisError
from redis.retry import Retry

# A Redis that is there answers within a millisecond. No page waits longer for a counter, and after that nobody asks
# again for a few seconds.
TIMEOUT_SECONDS, ABSENT_SECONDS = 0.5, 3.0
# Names that one process counts by itself meanwhile.
MOST_KEYS = 10_000


class PatientRedisCache(RedisCache):
    """Never raises for a Redis that does not answer."""

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        # One retry, for a connection that was good before Redis was restarted.
        options = {
            "socket_timeout": TIMEOUT_SECONDS,
            "socket_connect_timeout": TIMEOUT_SECONDS,
            "retry": Retry(NoBackoff(), 1, supported_errors=(NoConnection,)),
        }
        super().__init__(server, {**params, "OPTIONS": options})
        self._own = LocMemCache("while Redis is away", {**params, "OPTIONS": {"MAX_ENTRIES": MOST_KEYS}})
        self._absent_until = 0.0

    def _either(self, name: str, *arguments: Any, **more: Any) -> Any:
        if time.monotonic() >= self._absent_until:
            try:
                ask: Callable[..., Any] = getattr(super(), name)
                return ask(*arguments, **more)
            except (RedisError, OSError):
                self._absent_until = time.monotonic() + ABSENT_SECONDS
        return getattr(self._own, name)(*arguments, **more)

    def add(self, *arguments: Any, **more: Any) -> Any:
        return self._either("add", *arguments, **more)

    def get(self, *arguments: Any, **more: Any) -> Any:
        return self._either("get", *arguments, **more)

    def set(self, *arguments: Any, **more: Any) -> Any:
        return self._either("set", *arguments, **more)

    def touch(self, *arguments: Any, **more: Any) -> Any:
        return self._either("touch", *arguments, **more)

    def delete(self, *arguments: Any, **more: Any) -> Any:
        return self._either("delete", *arguments, **more)

    def get_many(self, *arguments: Any, **more: Any) -> Any:
        return self._either("get_many", *arguments, **more)

    def has_key(self, *arguments: Any, **more: Any) -> Any:
        return self._either("has_key", *arguments, **more)

    def incr(self, *arguments: Any, **more: Any) -> Any:
        return self._either("incr", *arguments, **more)

    def set_many(self, *arguments: Any, **more: Any) -> Any:
        return self._either("set_many", *arguments, **more)

    def delete_many(self, *arguments: Any, **more: Any) -> Any:
        return self._either("delete_many", *arguments, **more)

    def clear(self) -> Any:
        return self._either("clear")
