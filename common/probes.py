"""/health/, /ready/ and /metrics of both projects: for load balancers, operators and Prometheus.

They ask by address, so they are answered before the host name is looked at, without session or cookie. /health/ says
that this process answers; /ready/ what the whole depends on, each by name; /metrics is opened by a token, and never to
a request that came through a proxy.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.utils.module_loading import import_string
from prometheus_client.metrics_core import Metric

from common import metrics
from common.asking import Asked, all_of

# How long one of the services may take, and how long what they said holds: asking costs a connection of the database.
SECONDS, KEPT_SECONDS = 3.0, 1.0
READY = "ok"
TRIED_BYTES = 128 * 1024
# Returns READY or what is off, as a few words.
Check = Callable[[], str]


def answer(request: HttpRequest) -> HttpResponse | None:
    """The answer to one of the three addresses; None for any other."""
    page = _PAGES.get(request.path_info.rstrip("/"))
    if page is None:
        return None
    if request.method not in ("GET", "HEAD"):
        return HttpResponse(status=405, headers={"Allow": "GET, HEAD"})
    response = page(request)
    response["Cache-Control"] = "no-store"
    return response


def _ready(request: HttpRequest) -> HttpResponse:
    said = readiness.said()
    ready = all(each == READY for each in said.values())
    return JsonResponse({"status": READY if ready else "not ready", **said}, status=200 if ready else 503)


def _metrics(request: HttpRequest) -> HttpResponse:
    if not _may_read(request):
        return HttpResponse(status=404)
    return HttpResponse(metrics.text(_parts()), content_type=metrics.CONTENT_TYPE)


@cache
def _parts() -> metrics.Parts:
    return metrics.Parts({"readiness": _readiness, **import_string(settings.METRICS_PARTS)})


def _readiness() -> Iterator[Metric]:
    """What /ready/ says, for the rules that wake somebody."""
    said = {name: float(words == READY) for name, words in readiness.said().items()}
    yield metrics.gauge("service_ready", "1 where /ready/ says of this that it is.", check=said)


def _may_read(request: HttpRequest) -> bool:
    """Whoever has the token and asks this process itself. Nothing is open while no token is set."""
    passed_on = "X-Forwarded-For" in request.headers or "Forwarded" in request.headers
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return bool(
        settings.METRICS_TOKEN
        and not passed_on
        and scheme.lower() == "bearer"
        and constant_time_compare(token.strip(), settings.METRICS_TOKEN)
    )


_PAGES: dict[str, Callable[[HttpRequest], HttpResponse]] = {
    "/health": lambda request: JsonResponse({"status": READY}),
    "/ready": _ready,
    "/metrics": _metrics,
}


class Readiness:
    """What each of the project's checks said last."""

    def __init__(self) -> None:
        self._asked: dict[str, Asked[str]] = {}
        self._said: dict[str, str] = {}
        self._until = 0.0
        self._lock = threading.Lock()

    def said(self) -> dict[str, str]:
        with self._lock:
            if time.monotonic() >= self._until:
                self._said = self._ask()
                self._until = time.monotonic() + KEPT_SECONDS
            return self._said

    def _ask(self) -> dict[str, str]:
        if not self._asked:
            checks: dict[str, Check] = import_string(settings.READINESS_CHECKS)
            self._asked = {name: Asked(check) for name, check in checks.items()}
        return {name: _words(said) for name, said in all_of(self._asked, SECONDS).items()}


def _words(said: str | Exception) -> str:
    if isinstance(said, TimeoutError):
        return str(said)
    # What an error says may name a host or an account.
    return f"does not answer ({type(said).__name__})" if isinstance(said, Exception) else said


readiness = Readiness()


def database() -> str:
    """Whether the database answers one query."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()
    return READY


def disk(*folders: Path) -> Check:
    """Whether files can be written into each folder that there is. One without a name is gone when it is closed."""

    def check() -> str:
        for folder in filter(Path.exists, folders):
            try:
                with tempfile.TemporaryFile(dir=folder) as file:
                    # A disk that compresses takes little of equal bytes.
                    file.write(os.urandom(TRIED_BYTES))
            except OSError as error:
                return f"takes no more files: {error.strerror}"
        return READY

    return check


def fresh(what: str, age: float | None, limit: float) -> str:
    """READY for something that last happened `age` seconds ago, None for never."""
    if age is None:
        return f"{what} has never run"
    return READY if age <= limit else f"{what} ran {age:,.0f} seconds ago, and should every {limit:,.0f} at most"
