"""What visitors are told when the database or the disk has ended their request: what happened, and what to do.

Status 503.
"""

from __future__ import annotations

import logging
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from django.core.signals import got_request_exception
from django.http import HttpRequest, HttpResponse

from common.database_limits import why

log = logging.getLogger(__name__)
RETRY_SECONDS = 30


class UnavailableMiddleware(ABC):
    """Each site says so in a page of its own, which asks nothing of the database or the session.

    It stands around the others: one of them may fail before the view, as at reading a form, or after it, as at saving
    the session.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    @abstractmethod
    def answer(self, request: HttpRequest, what: str) -> HttpResponse:
        """The site's answer; `what` is one of `common.database_limits`."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not (what := getattr(request, "ended_by", "")):
            return response
        # In the place of Django's page, with the headers that the others gave it.
        page = self._page(request, what)
        for name, value in response.items():
            page.headers.setdefault(name, value)
        return page

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Of a view."""
        if not (what := why(exception)):
            return None
        route = request.resolver_match.route if request.resolver_match else ""
        log.error("The database ended a request (%s): %s %s", what, request.method, route, exc_info=exception)
        return self._page(request, what)

    def _page(self, request: HttpRequest, what: str) -> HttpResponse:
        page = self.answer(request, what)
        page.status_code = 503
        page["Retry-After"] = str(RETRY_SECONDS)
        page["Content-Length"] = str(len(page.content))
        return page


def _note(request: HttpRequest | None = None, **more: Any) -> None:
    """Django makes a page of what another middleware raised, and has written it to the log."""
    if request is not None and (what := why(sys.exception())):
        request.ended_by = what  # type: ignore[attr-defined]


got_request_exception.connect(_note)
