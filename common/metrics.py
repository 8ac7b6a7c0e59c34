"""What a site counts of its own requests, and the text that Prometheus reads.

Each process of a site counts for itself, in a file in PROMETHEUS_MULTIPROC_DIR, and whichever is asked adds them up. A
process that takes the place of another goes on with its file: the number of files stays, and no count falls.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import IO, Any

import prometheus_client
from django.db import connection, transaction
from django.http import HttpRequest
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess, values
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from common.asking import Asked, all_of
from common.metrics_folder import FOLDER

CONTENT_TYPE = prometheus_client.CONTENT_TYPE_LATEST
METHODS = ("GET", "HEAD", "POST")
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
# Of each query, and of all parts together: less than Prometheus waits.
QUERY_MILLISECONDS, PART_SECONDS = 2000, 5.0
log = logging.getLogger(__name__)
Part = Callable[[], Iterator[Metric]]


class _Slot:
    """The number of this process among those that count at the same time, held by a lock on a file."""

    def __init__(self) -> None:
        self._pid = 0
        self._number = 0
        self._held: IO[str] | None = None

    def number(self) -> int:
        # A fork counts for itself.
        if self._pid != os.getpid():
            self._pid, self._number, self._held = os.getpid(), *_free_slot(Path(os.environ[FOLDER]))
        return self._number


def _free_slot(folder: Path) -> tuple[int, IO[str]]:
    number = 0
    while True:
        file = (folder / f"slot{number}.lock").open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return number, file
        except BlockingIOError:
            file.close()
            number += 1


if os.environ.get(FOLDER):
    values.ValueClass = values.MultiProcessValue(_Slot().number)  # type: ignore[no-untyped-call]

REQUESTS = Counter("http_requests", "Requests answered.", ["view", "method", "status"])
DURATION = Histogram("http_request_seconds", "Time that requests took.", ["view"], buckets=SECONDS)


def count(request: HttpRequest, status: int, seconds: float) -> None:
    """One answered request."""
    view = view_of(request)
    method = request.method if request.method in METHODS else "other"
    REQUESTS.labels(view, method, str(status)).inc()
    DURATION.labels(view).observe(seconds)


def view_of(request: HttpRequest) -> str:
    """A bounded name: that of a page's route, or what a middleware that answers by itself has called it."""
    named = getattr(request, "counted_as", "")
    match = getattr(request, "resolver_match", None)
    return str(named or (match and (match.view_name or match.route)) or "none")


class Parts(Collector):
    """What is read when it is asked for. A part that fails or takes too long is left out, and says so."""

    def __init__(self, parts: dict[str, Part]) -> None:
        self._asked = {name: Asked(_whole(part)) for name, part in parts.items()}

    def collect(self) -> Iterator[Metric]:
        readable = GaugeMetricFamily("metrics_part_readable", "0 where this part could not be read.", labels=["part"])
        for name, found in all_of(self._asked, PART_SECONDS).items():
            good = not isinstance(found, Exception)
            if isinstance(found, Exception):
                log.warning("The metrics of %s could not be read: %s", name, found)
            else:
                yield from found
            readable.add_metric([name], float(good))
        yield readable


def _whole(part: Part) -> Callable[[], list[Metric]]:
    return lambda: list(part())


def bounded(part: Part) -> Part:
    """A part that asks the database: in one transaction, of which the server ends each query that takes too long."""

    @wraps(part)
    def read() -> Iterator[Metric]:
        with transaction.atomic():
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.execute(f"SET LOCAL statement_timeout = {QUERY_MILLISECONDS}")
            yield from part()

    return read


def text(parts: Collector) -> bytes:
    """All that this site counts, and what `parts` read now."""
    registry = CollectorRegistry()
    if os.environ.get(FOLDER):
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        for counted in (*_COUNTED, *_more):
            registry.register(counted)
    registry.register(parts)
    return generate_latest(registry)


_COUNTED: tuple[Any, ...] = (REQUESTS, DURATION)
_more: list[Any] = []


def counter(name: str, what: str, labels: list[str]) -> Counter:
    """A counter of a project's own, beside those of requests."""
    made = Counter(name, what, labels, registry=None)
    _more.append(made)
    return made


def gauge(name: str, what: str, value: float | None = None, **by: dict[str, float]) -> GaugeMetricFamily:
    """One value; or with `label={name: value}` one of each name."""
    if not by:
        return GaugeMetricFamily(name, what, value=value)
    ((label, amounts),) = by.items()
    made = GaugeMetricFamily(name, what, labels=[label])
    for key, amount in amounts.items():
        made.add_metric([key], amount)
    return made


def disk(folders: dict[str, Path]) -> Iterator[Metric]:
    """Room on the disks of these folders."""
    found = {name: shutil.disk_usage(folder) for name, folder in folders.items() if folder.exists()}
    free = {name: float(usage.free) for name, usage in found.items()}
    size = {name: float(usage.total) for name, usage in found.items()}
    yield gauge("disk_free_bytes", "Free bytes of the disk that holds the folder.", folder=free)
    yield gauge("disk_size_bytes", "Size of the disk that holds the folder.", folder=size)
