"""Uploaded pictures, sounds and videos, as the pages of workers load them: whole or by ranges.

Security behavior: no cookie is read or set, for there is none in a worker's frame; the address is signed and names one
file. A file is sent as what it was found to be when it came in, never as what a browser guesses, and under a policy in
which nothing of it runs or loads anything: an SVG opened by itself is a still picture without an origin.
"""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import path
from django.utils.http import content_disposition_header, parse_etags
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from hits.items.rules.media import file_at
from hits.models import MediaFile
from hits.views.byte_ranges import byte_range

# Of a range without an end. A player that stops reading takes a thread of the server until it has read the piece.
PIECE_BYTES = 4 * 1024 * 1024
POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


@require_safe
@xframe_options_exempt
def media_file(request: HttpRequest, token: str, name: str) -> HttpResponseBase:
    file = file_at(token, name)
    if file is None:
        raise Http404
    response = _answer(request, file)
    response["ETag"] = _etag(file)
    response["Accept-Ranges"] = "bytes"
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    response["Content-Security-Policy"] = POLICY
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _answer(request: HttpRequest, file: MediaFile) -> HttpResponseBase:
    if _etag(file) in (known := parse_etags(request.headers.get("If-None-Match", ""))) or known == ["*"]:
        return HttpResponse(status=304)
    try:
        part = _range(request, file)
    except ValueError:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{file.blob.size}"})
    start, end = part or (0, file.blob.size)
    response = StreamingHttpResponse(
        () if request.method == "HEAD" else file.blob.read_range(start, end), content_type=file.content_type
    )
    if part:
        response.status_code = 206
        response["Content-Range"] = f"bytes {start}-{end - 1}/{file.blob.size}"
    response["Content-Length"] = str(end - start)
    response["Content-Disposition"] = content_disposition_header(False, file.base) or "inline"
    return response


def _range(request: HttpRequest, file: MediaFile) -> tuple[int, int] | None:
    """Raises ValueError."""
    # A part of what was here before does not fit to what is here now.
    if request.method != "GET" or request.headers.get("If-Range", _etag(file)) != _etag(file):
        return None
    return byte_range(request.headers.get("Range", ""), file.blob.size, PIECE_BYTES)


def _etag(file: MediaFile) -> str:
    return f'"{file.blob.sha256}"'


media_urls = [path("media/<str:token>/<str:name>", media_file, name="media-file")]
