from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from django.core.wsgi import get_wsgi_application

from common.wsgi import reading_to_the_end, refusing_what_is_no_text


def status(content_type: str) -> str:
    """Of a form with this content type, sent to the whole application of the project."""
    body = b"username=a&password=b"
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/nowhere/",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "HTTP_HOST": "localhost",
        "QUERY_STRING": "a=b",
        "CONTENT_TYPE": content_type,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        "wsgi.url_scheme": "http",
    }
    answered: list[str] = []
    list(refusing_what_is_no_text(get_wsgi_application())(environ, lambda line, headers, *more: answered.append(line)))
    return answered[0]


@pytest.mark.django_db
@pytest.mark.parametrize("charset", ["zlib", "ZLIB", "'zlib'", "hex", "base64", "rot13", "bz2", "quopri", "uu"])
@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"])
def test_a_charset_that_is_no_encoding_of_text_is_refused(kind: str, charset: str) -> None:
    assert status(f"{kind}; charset={charset}") in ("400 Bad Request", "403 Forbidden", "404 Not Found")


@pytest.mark.django_db
@pytest.mark.parametrize("content_type", ["", "text/plain", "text/plain; charset=utf-8", "text/plain; charset=none"])
def test_anything_else_comes_to_the_project(content_type: str) -> None:
    assert status(content_type) in ("403 Forbidden", "404 Not Found")


def test_what_an_application_leaves_of_a_request_is_read_before_its_answer_goes_out() -> None:
    def refusing(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        start_response("401 Unauthorized", [])
        return [b"Who are you?"]

    body = io.BytesIO(b"x" * 200_000)
    answered = reading_to_the_end(refusing)({"wsgi.input": body}, lambda status, headers: None)
    assert list(answered) == [b"Who are you?"]
    assert not body.read()
