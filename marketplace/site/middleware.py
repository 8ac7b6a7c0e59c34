"""Refuses what no database can keep, wherever in a request it stands."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from marketplace.site.views.errors import bad_request


class UnreadableTextMiddleware:
    """A NUL character in an address or a field is nobody's typing: PostgreSQL would refuse it in the middle of a view.

    Forms refuse it by themselves; `process_exception` is for the few fields that are looked up as they came.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            return bad_request(request)
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, ValueError) and "NUL (0x00)" in str(exception):
            return bad_request(request, exception)
        return None
