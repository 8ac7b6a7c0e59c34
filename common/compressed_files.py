"""Static files compressed on their way out: on a phone, most of what a task page costs is its sheets and scripts.

Only files that everybody is given: a compressed page that repeats what a visitor sent could tell its secrets by its
length.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from functools import lru_cache

from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import parse_http_date_safe

# Pictures, films and fonts are compressed already.
_KINDS = ("text/css", "text/javascript", "application/javascript", "application/json", "image/svg+xml")
_LEAST_BYTES = 200
_MOST_BYTES = 2 * 1024 * 1024
_CONDITIONS = ("HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE")
_TAKES_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", re.IGNORECASE)


class CompressedFilesMiddleware:
    """Stands before WhiteNoise, whose answers it compresses for browsers that take gzip."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path.startswith(settings.STATIC_URL):
            return self.get_response(request)
        # Whether the visitor has it already depends on which of both forms is sent, which WhiteNoise does not know.
        asked = {name: request.META.pop(name) for name in _CONDITIONS if name in request.META}
        response = self.get_response(request)
        request.META.update(asked)
        kind = response.headers.get("Content-Type", "").split(";")[0]
        length = int(response.headers.get("Content-Length", 0))
        whole = response.status_code == 200 and not response.has_header("Content-Encoding")
        if whole and kind in _KINDS and _LEAST_BYTES <= length <= _MOST_BYTES:
            patch_vary_headers(response, ["Accept-Encoding"])
            if request.method == "GET" and _TAKES_GZIP.search(request.headers.get("Accept-Encoding", "")):
                response = _compressed(response)
        return _unless_it_is_there(request, response)


def _unless_it_is_there(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    changed = parse_http_date_safe(response.headers.get("Last-Modified", ""))
    name = response.headers.get("ETag")
    answer = get_conditional_response(request, name, changed, response)  # type: ignore[arg-type]
    if answer is not response and isinstance(response, FileResponse):
        response.file_to_stream.close()  # type: ignore[union-attr]
    return answer or response


def _compressed(response: HttpResponseBase) -> HttpResponse:
    assert isinstance(response, FileResponse)
    content = b"".join(response.streaming_content)  # type: ignore[arg-type]
    response.file_to_stream.close()  # type: ignore[union-attr]
    small = HttpResponse(_gzip(content))
    small.headers = response.headers
    small["Content-Encoding"] = "gzip"
    small["Content-Length"] = str(len(small.content))
    # Two forms of a file are two things to a cache: one name for both would let it mix them up.
    if "ETag" in small:
        small["ETag"] = small["ETag"].removesuffix('"') + '-gzip"'
    return small


@lru_cache(maxsize=256)
def _gzip(content: bytes) -> bytes:
    """Of the same content always the same bytes: the time is left out."""
    return gzip.compress(content, compresslevel=9, mtime=0)
