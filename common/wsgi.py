"""What is refused before Django builds a request from it, and what is read of one after it was answered."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from typing import Any

from django.utils.http import parse_header_parameters

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
CHUNK = 1 << 16
SENTENCE = b"The charset of what was sent is not an encoding of text. Nothing was changed.\n"


def refusing_what_is_no_text(application: Application) -> Application:
    """`application`, with a 400 for a charset such as zlib: Python knows it, no text is written in it, Django fails."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if _is_text(environ.get("CONTENT_TYPE", "")):
            return application(environ, start_response)
        length = str(len(SENTENCE))
        start_response("400 Bad Request", [("Content-Type", "text/plain"), ("Content-Length", length)])
        return [SENTENCE]

    return answer


def reading_to_the_end(application: Application) -> Application:
    """`application`, which takes what it left unread of a request's body before its answer goes out.

    A connection that is closed over unread bytes is reset, and a proxy that is still sending tells its visitor of a
    fault of the server (502) instead of handing on the refusal. Only for behind a proxy that has the whole request
    already: from a visitor who sends slowly it would take a thread for as long.
    """

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        response = application(environ, start_response)
        while environ["wsgi.input"].read(CHUNK):
            pass
        return response

    return answer


def _is_text(content_type: str) -> bool:
    try:
        charset = parse_header_parameters(content_type)[1].get("charset", "")
        # The switch has an underscore, and is what bytes.decode itself looks at.
        return not charset or bool(getattr(codecs.lookup(charset), "_is_text_encoding", True))
    except (LookupError, ValueError):
        # An unknown name: Django falls back to its own encoding.
        return True
