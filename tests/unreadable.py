"""Requests that no view can use: both sites refuse the same ones, each with a page of its own."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client

FORM = "multipart/form-data; boundary=x; charset="
# Name, what is added to the address of a page, the request's headers, and whether it is refused with 400.
CASES: list[tuple[str, str, dict[str, str], bool]] = [
    ("NUL in the path", "a%00b/", {}, True),
    ("NUL in the query", "?q=a%00b", {}, True),
    ("NUL in the name of a field of the query", "?a%00b=1", {}, True),
    ("NUL encoded twice", "?q=a%2500b", {}, False),
    ("NUL in a cookie, as quoted strings write it", "", {"Cookie": r'{session}="abcdefgh\000"'}, True),
    ("half of a surrogate pair in the path", "a%ED%A0%80b/", {}, False),
    ("half of a surrogate pair in the query", "?q=%ED%A0%80", {}, False),
    ("a text encoding that makes halves of pairs", "?q=%5Cud800", {"Content-Type": f"{FORM}unicode_escape"}, True),
    ("UTF-8 by another name", "?q=a", {"Content-Type": f"{FORM}UTF8"}, False),
    ("an encoding that nobody knows", "?q=a", {"Content-Type": f"{FORM}nonsense"}, False),
]


every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])


def answer(client: Client, page: str, case: tuple[str, str, dict[str, str], bool]) -> Any:
    """What a GET of the page is answered with; crashes come as status 500."""
    _, added, headers, _ = case
    session = settings.SESSION_COOKIE_NAME
    environ = {name.upper().replace("-", "_"): value.replace("{session}", session) for name, value in headers.items()}
    given = {name if name == "CONTENT_TYPE" else f"HTTP_{name}": value for name, value in environ.items()}
    if "HTTP_COOKIE" in given:
        # The client writes cookies that it knows into the same header.
        client.cookies.clear()
    client.raise_request_exception = False
    return client.get(page + added, **given)
