"""Hands POST / (and the test controls) to the wire before sessions, tokens and policies for browsers are looked at."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from marketplace.wire import controls
from marketplace.wire.view import answer


class WireMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method == "POST" and request.path_info == "/":
            request.counted_as = "wire"  # type: ignore[attr-defined]
            return answer(request)
        if settings.MARKETPLACE_TEST_CONTROLS and request.path_info == controls.PATH:
            return controls.answer(request)
        return self.get_response(request)
