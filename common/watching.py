"""The outermost middleware of both projects: the request's id, what is counted of it, its line in the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from common import metrics, probes, request_id
from common.logs import JSON, route_of

log = logging.getLogger("common.requests")


class WatchingMiddleware:
    """It stands first: before whatever looks at the host name, and around whatever answers by itself."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with request_id.under(request.headers.get(request_id.HEADER)):
            response = probes.answer(request) or self._watched(request)
            response[request_id.HEADER] = request_id.current()
            request.request_id = request_id.current()  # type: ignore[attr-defined]
            return response

    def _watched(self, request: HttpRequest) -> HttpResponse:
        began = time.monotonic()
        response = self.get_response(request)
        seconds = time.monotonic() - began
        metrics.count(request, response.status_code, seconds)
        if settings.LOG_FORMAT == JSON:
            _write(request, response, seconds)
        return response


def _write(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    """The route and not the address, which may hold a token or an answer; nothing of who asked."""
    said = {
        "method": request.method if request.method in metrics.METHODS else "other",
        "route": route_of(request),
        "view": metrics.view_of(request),
        "status": response.status_code,
        "ms": round(1000 * seconds),
    }
    log.info("%(method)s %(route)s %(status)s", said, extra=said)
