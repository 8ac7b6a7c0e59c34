"""What the requester's side depends on, as /ready/ says it."""

from __future__ import annotations

import tempfile
import time
from functools import cache
from pathlib import Path

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from annotate import jobs
from common.probes import READY, Check, database, disk, fresh

TIMEOUT_SECONDS = 1.0
# Beat sends something every RESUME_SECONDS; beside other work, or right after a restart, it may be late.
LATE_SECONDS = 60


@cache
def connection() -> redis.Redis:
    """To look at Redis: nothing is waited for long, and nothing is tried twice."""
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
        decode_responses=True,
    )


def redis_answers() -> str:
    connection().ping()
    return READY


def beat_age() -> float | None:
    """Seconds since beat last handed a job to the queue; None where Redis knows of none."""
    said = jobs.counted().get(f"last:{jobs.BEAT}=")
    return None if said is None else max(0.0, time.time() - float(said))


def beat() -> str:
    return fresh("beat", beat_age(), settings.RESUME_SECONDS + LATE_SECONDS)


# Its own files, and what leads send in while it is read.
FOLDERS = (settings.DATA_DIR, Path(settings.FILE_UPLOAD_TEMP_DIR or tempfile.gettempdir()))
CHECKS: dict[str, Check] = {"database": database, "redis": redis_answers, "beat": beat, "disk": disk(*FOLDERS)}
