"""What visitors are told when the database has ended their request: what happened, and what to do. Status 503."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from common.database_limits import why

log = logging.getLogger(__name__)
RETRY_SECONDS = 30


class UnavailableMiddleware(ABC):
    """Each site says so in a page of its own, which asks nothing of the database or the session."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    @abstractmethod
    def answer(self, request: HttpRequest, what: str) -> HttpResponse:
        """The site's answer; `what` is one of `common.database_limits`."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not (what := why(exception)):
            return None
        route = request.resolver_match.route if request.resolver_match else ""
        log.error("The database ended a request (%s): %s %s", what, request.method, route, exc_info=exception)
        response = self.answer(request, what)
        response.status_code = 503
        response["Retry-After"] = str(RETRY_SECONDS)
        return response
