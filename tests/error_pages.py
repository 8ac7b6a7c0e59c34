"""What both sites answer when something is wrong, with DEBUG and without."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import Http404
from django.test import Client

# What Django's own pages of DEBUG hold.
DJANGOS = ("DEBUG = True", "Traceback", "URLconf", "technical", "Request Method")
RAISED: list[tuple[type[Exception], int]] = [
    (Http404, 404), (PermissionDenied, 403), (SuspiciousOperation, 400), (RuntimeError, 500),
]  # fmt: skip


def unknown_address(address: str) -> Any:
    return _browser().get(address)


def raised(monkeypatch: pytest.MonkeyPatch, view: str, address: str, error: type[Exception]) -> Any:
    """What a visitor gets whose page raises the error. `view` is what the page calls, as a dotted name."""

    def fail(*arguments: Any, **named: Any) -> None:
        raise error("secret inside")

    monkeypatch.setattr(view, fail)
    return _browser().get(address)


def form_address(address: str, page: str) -> bool:
    """Whether somebody who opens the address of a form is led to the page above it."""
    answer = unknown_address(address)
    assert answer.headers["Allow"] == "POST" and f'href="{page}"' in answer.content.decode()
    return is_designed(answer, 405)


def is_designed(answer: Any, status: int) -> bool:
    text = answer.content.decode()
    assert answer.status_code == status, text
    assert "shell/tokens.css" in text and "<h1>" in text, text
    assert not [word for word in (*DJANGOS, "secret inside") if word in text], text
    return True


def _browser() -> Client:
    return Client(raise_request_exception=False, headers={"accept": "text/html"})
