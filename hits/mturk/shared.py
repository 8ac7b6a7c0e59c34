"""What all processes of an account share, in Redis: the token bucket, and who takes from it.

Nothing here raises when Redis does not answer: the methods return None, and for a few seconds nobody asks it again.
Whatever Redis forgets is learned again; it holds nothing that money or answers depend on.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from hits.mturk import bucket

T = TypeVar("T")

# A local Redis answers within a millisecond; one that is gone must not hold up any call.
TIMEOUT_SECONDS = 0.3
ABSENT_SECONDS = 3.0
USERS_SECONDS = 10
STATE_SECONDS = 30 * 86_400

# The rules of hits/mturk/bucket.py. KEYS: the bucket, its users.
# ARGV: the time in seconds or "", verb, user, rate and limit to start with, ceiling, capacity, floor.
SCRIPT = f"""
local state, users = KEYS[1], KEYS[2]
local clock = redis.call('TIME')
local now = tonumber(ARGV[1]) or (tonumber(clock[1]) + tonumber(clock[2]) / 1000000)
local ceiling, capacity, floor = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])

local known = redis.call('HMGET', state, 'rate', 'limit', 'tokens', 'at', 'grown_at', 'cut_at', 'wanted', 'cuts')
local rate, limit = tonumber(known[1]) or tonumber(ARGV[4]), tonumber(known[2]) or tonumber(ARGV[5])
local tokens, at = tonumber(known[3]) or capacity, tonumber(known[4]) or now
local grown_at, cut_at = tonumber(known[5]) or now, tonumber(known[6]) or (now - {bucket.PAUSE})
local wanted, cuts = known[7] == '1', tonumber(known[8]) or 0
rate = math.max(floor, math.min(ceiling, rate))
tokens = math.min(capacity, tokens + math.max(0, now - at) * rate)
at = math.max(at, now)

local answer = 0
local wait = 0
if ARGV[2] == 'take' then
  if wanted and now - grown_at >= {bucket.PAUSE} and now - cut_at >= {bucket.PAUSE} then
    local step = rate
    if limit > 0 then step = math.max({bucket.LEAST_STEP}, {bucket.STEP} * limit, rate - limit) end
    rate = math.min(ceiling, rate + step)
    grown_at, wanted = now, false
  end
  wait = math.max(0, (1 - tokens) / rate)
  wanted = wanted or wait > 0
  if wait <= {bucket.HORIZON} then
    tokens = tokens - 1
    answer = 1
  end
elseif ARGV[2] == 'throttled' then
  tokens = math.min(tokens, 0)
  if now - cut_at >= {bucket.PAUSE} then
    if now - cut_at < {bucket.IN_A_ROW} then cuts = cuts + 1 else cuts = 1 end
    local share = {bucket.FIRST_CUT}
    if limit > 0 then
      share = {bucket.CUT}
      if cuts > 2 then share = {bucket.DEEP_CUT} end
    end
    limit = rate
    rate = math.max(floor, rate * share)
    cut_at, wanted = now, false
    answer = 1
    redis.call('HSET', state, 'throttled_at', string.format('%.3f', now))
  end
end

local function exact(number) return string.format('%.17g', number) end
redis.call('HSET', state, 'rate', exact(rate), 'limit', exact(limit), 'tokens', exact(tokens), 'at', exact(at),
  'grown_at', exact(grown_at), 'cut_at', exact(cut_at), 'wanted', wanted and '1' or '0', 'cuts', cuts)
redis.call('EXPIRE', state, {STATE_SECONDS})
redis.call('ZADD', users, now, ARGV[3])
redis.call('ZREMRANGEBYSCORE', users, '-inf', now - {USERS_SECONDS})
redis.call('EXPIRE', users, {USERS_SECONDS})
return {{answer, exact(wait), exact(rate), exact(limit), redis.call('ZCARD', users)}}
"""

# KEYS: hashes. ARGV: the seconds that each hash lives, then a name and what is added to it, and so on;
# names that end with "=" are set. A hash for good has no names of moments: there would be ever more of them.
COUNT = """
for i, key in ipairs(KEYS) do
  for n = #KEYS + 1, #ARGV, 2 do
    if string.sub(key, -8) == 'for-good' and string.find(ARGV[n], '^%l+:%d+=?$') then
      -- A moment.
    elseif string.sub(ARGV[n], -1) == '=' then
      redis.call('HSET', key, ARGV[n], ARGV[n + 1])
    else
      redis.call('HINCRBY', key, ARGV[n], ARGV[n + 1])
    end
  end
  redis.call('EXPIRE', key, ARGV[i])
end
"""


@dataclass(frozen=True)
class Turn:
    """What the shared bucket said: `granted`, or for `throttled` whether the rate was lowered."""

    granted: bool
    wait: float
    rate: float
    limit: float
    users: int


class Shared:
    """One Redis, seen by one process. Safe to share between threads."""

    def __init__(self, url: str, account: str) -> None:
        # One retry, for a connection that was good before Redis was restarted.
        retry = Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,))
        self._redis = redis.Redis.from_url(
            url,
            socket_connect_timeout=TIMEOUT_SECONDS,
            socket_timeout=TIMEOUT_SECONDS,
            retry=retry,
            decode_responses=True,
        )
        # The braces keep all keys of an account on one machine of a cluster.
        self._prefix = f"mturk:{{{account}}}:"
        self._user = secrets.token_hex(4)
        self._bucket = self._redis.register_script(SCRIPT)
        self._count = self._redis.register_script(COUNT)
        self._absent_until = 0.0
        self._lock = threading.Lock()

    def take(self, start: bucket.Bucket, now: float | None = None) -> Turn | None:
        """Ask for a token; `start` is what the caller knows, for a Redis that knows nothing."""
        return self._turn("take", start, now)

    def throttled(self, start: bucket.Bucket, now: float | None = None) -> Turn | None:
        return self._turn("throttled", start, now)

    def state(self) -> dict[str, str] | None:
        """The bucket as it stands, without changing it."""
        found = self.counted(["bucket"])
        return found[0] if found is not None else None

    def count(self, hashes: Mapping[str, int], added: Mapping[str, int | str]) -> None:
        """Add to the fields of the named hashes, each of which then lives so many seconds."""
        keys = [self._prefix + name for name in hashes]
        pairs = [part for pair in added.items() for part in pair]
        self._ask(lambda: self._count(keys=keys, args=[*hashes.values(), *pairs]))

    def counted(self, names: Sequence[str]) -> list[dict[str, str]] | None:
        """The named hashes; those that are not there are empty."""

        def read() -> list[dict[str, str]]:
            pipeline = self._redis.pipeline(transaction=False)
            for name in names:
                pipeline.hgetall(self._prefix + name)
            return list(pipeline.execute())

        return self._ask(read)

    def _turn(self, verb: str, start: bucket.Bucket, now: float | None) -> Turn | None:
        user = f"{self._user}.{os.getpid()}"
        arguments: list[Any] = ["" if now is None else repr(now), verb, user, start.rate, start.limit]
        arguments += [start.ceiling, start.capacity, start.floor]
        keys = [self._prefix + "bucket", self._prefix + "users"]
        reply: Any = self._ask(lambda: self._bucket(keys=keys, args=arguments))
        if reply is None:
            return None
        granted, wait, rate, limit, users = reply
        return Turn(granted == 1, float(wait), float(rate), float(limit), int(users))

    def _ask(self, question: Callable[[], T]) -> T | None:
        if not self._may_ask():
            return None
        try:
            answer = question()
        except (RedisError, OSError):
            self._absent_until = time.monotonic() + ABSENT_SECONDS
            return None
        self._absent_until = 0.0
        return answer

    def _may_ask(self) -> bool:
        """While Redis is absent, one thread at a time tries, every few seconds."""
        if self._absent_until == 0.0:
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._absent_until:
                return False
            self._absent_until = now + ABSENT_SECONDS
            return True
