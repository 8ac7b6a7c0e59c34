"""Refuses what no database can keep, wherever in a request it stands. Each site says so in a page of its own."""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Callable

from django.db import DataError
from django.http import HttpRequest, HttpResponse

# A form in another encoding may hold what is no text, or fail in the middle of a view.
ENCODINGS = ("utf-8", "ascii", "iso8859-1", "cp1252")


class UnreadableTextMiddleware(ABC):
    """A NUL character in an address, a cookie or a field is nobody's typing: PostgreSQL would refuse it in a view.

    Forms refuse it by themselves; `process_exception` is for the few fields that are looked up as they came.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    @abstractmethod
    def refusal(self, request: HttpRequest) -> HttpResponse:
        """The site's answer, with status 400."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        in_address = "\x00" in request.path_info or "%00" in request.META.get("QUERY_STRING", "")
        if in_address or not _encoding_is_known(request) or any("\x00" in text for text in request.COOKIES.values()):
            return self.refusal(request)
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, ValueError | DataError) and "NUL (0x00)" in str(exception):
            return self.refusal(request)
        return None


def _encoding_is_known(request: HttpRequest) -> bool:
    return not request.encoding or codecs.lookup(request.encoding).name in ENCODINGS
