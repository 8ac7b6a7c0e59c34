"""Refuses what no program can read and no database can keep, wherever in a request it stands. Each site says so in a
page of its own.
"""

from __future__ import annotations

import codecs
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable

from django.core.exceptions import DisallowedRedirect
from django.db import DataError
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError

from common.logs import route_of

log = logging.getLogger(__name__)
SENTENCE = "Something in the address or in what was sent is not readable text. Nothing was changed."

# A form in another encoding may hold what is no text, or fail in the middle of a view.
ENCODINGS = ("utf-8", "ascii", "iso8859-1", "cp1252")


# What PostgreSQL says of a value: too long, out of range, NUL, no character, no number or JSON.
_OF_A_VALUE = ("22001", "22003", "22008", "22021", "22P02", "22P05")


class UnreadableTextMiddleware(ABC):
    """A NUL character in an address, a cookie or a field is nobody's typing: PostgreSQL would refuse it in a view.

    It stands before CsrfViewMiddleware, which reads the form, and where no `process_exception` sees what fails. Forms
    refuse values by themselves; `process_exception` is for the few fields that are looked up as they came.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    @abstractmethod
    def refusal(self, request: HttpRequest) -> HttpResponse:
        """The site's answer, with status 400."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        in_address = "\x00" in request.path_info or "%00" in request.META.get("QUERY_STRING", "")
        known = not request.encoding or codecs.lookup(request.encoding).name in ENCODINGS
        if in_address or not known or any("\x00" in text for text in request.COOKIES.values()):
            return self.refusal(request)
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], args: object, kwargs: object
    ) -> HttpResponse | None:
        if getattr(view, "csrf_exempt", False):
            # It reads what it is sent by itself, once it knows from whom.
            return None
        try:
            _ = request.POST
        except MultiPartParserError:
            return self.refusal(request)
        except UnreadablePostError:
            # The visitor is gone.
            return None
        return None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return self.refusal(request) if is_of_what_was_sent(request, exception) else None


def is_of_what_was_sent(request: HttpRequest, error: Exception) -> bool:
    """Whether the error says something about what the visitor sent, and nothing about the code. It gets a line in the
    log: a check is missing where the value came in.
    """
    if isinstance(error, MultiPartParserError):
        return True
    what = _of_a_value(error)
    if what:
        log.warning("A value was refused too late (%s): %s %s", what, request.method, route_of(request))
    return bool(what)


def _of_a_value(error: Exception) -> str:
    said = str(error)
    if isinstance(error, ValueError | DataError) and "NUL (0x00)" in said:
        return "NUL"
    if isinstance(error, UnicodeEncodeError) and "surrogates not allowed" in said:
        return "half of a surrogate pair"
    if isinstance(error, OverflowError) and "SQLite INTEGER" in said:
        return "out of range"
    if isinstance(error, DisallowedRedirect):
        return "no address"
    state = getattr(error.__cause__, "pgcode", None) if isinstance(error, DataError) else None
    return state if state in _OF_A_VALUE else ""
