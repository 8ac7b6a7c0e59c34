"""What is shown once: by the page that a form leads to, to whoever sent the form, for a few minutes."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import RequestFactory

from common import shown_once

BEFORE = {"shown_before": True}


def opened(session: dict[str, Any], address: str, method: str = "get") -> dict[str, Any]:
    request = getattr(RequestFactory(), method)(address)
    request.session = session
    return shown_once.taken(request)


def sent(session: dict[str, Any], page: str = "/account/") -> str:
    request: Any = SimpleNamespace(session=session)
    return shown_once.leading_to(request, page, token="the-secret").url


def test_the_first_showing_takes_it_out() -> None:
    session: dict[str, Any] = {}
    address = sent(session)
    assert "the-secret" not in address
    assert opened(session, address, "head") == {}
    assert opened(session, address) == {"token": "the-secret"}
    assert "the-secret" not in str(session)
    assert opened(session, address) == BEFORE
    assert opened(session, "/account/") == {}


def test_neither_another_page_nor_another_session_shows_it() -> None:
    session: dict[str, Any] = {}
    address = sent(session)
    assert opened(session, address.replace("/account/", "/members/")) == BEFORE
    assert opened({}, address) == BEFORE
    assert opened(session, address) == {"token": "the-secret"}


def test_it_is_kept_for_some_minutes_and_few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    session: dict[str, Any] = {}
    addresses = [sent(session) for _ in range(shown_once.MOST_KEPT + 1)]
    assert opened(session, addresses[0]) == BEFORE
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 60 * shown_once.MINUTES + 1)
    assert opened(session, addresses[1]) == BEFORE
    later = sent(session)
    assert len(session[shown_once.NAME]) == 1
    assert opened(session, later) == {"token": "the-secret"}
