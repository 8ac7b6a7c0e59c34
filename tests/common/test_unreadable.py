"""One rule for both sites: what no database can keep is refused, and what a database refuses is told like it."""

from __future__ import annotations

import pytest
from django.db import DataError
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from common.unreadable import UnreadableTextMiddleware


class Plain(UnreadableTextMiddleware):
    def refusal(self, request: HttpRequest) -> HttpResponse:
        return HttpResponse("refused", status=400)


SITE = Plain(lambda request: HttpResponse("read"))


@pytest.mark.parametrize(("page", "code"), [("/a%00b/", 400), ("/?q=%00", 400), ("/?q=%2500", 200), ("/", 200)])
def test_the_site_is_asked_for_the_refusal_and_else_for_the_page(page: str, code: int) -> None:
    assert SITE(RequestFactory().get(page)).status_code == code


def test_only_the_complaint_about_nul_characters_is_answered_for_a_view() -> None:
    request = RequestFactory().get("/")
    told = "A string literal cannot contain NUL (0x00) characters."
    for error in (ValueError(told), DataError(told)):
        answer = SITE.process_exception(request, error)
        assert answer is not None and answer.status_code == 400
    assert SITE.process_exception(request, ValueError("another")) is None
    assert SITE.process_exception(request, RuntimeError(told)) is None


def test_what_a_database_says_of_a_value_is_the_visitors_and_what_it_says_of_a_statement_ours() -> None:
    request = RequestFactory().post("/")
    for state, refused in (("22001", True), ("22003", True), ("22P05", True), ("22012", False)):
        error = DataError("told")
        error.__cause__ = type("OfTheDriver", (Exception,), {"pgcode": state})()
        assert (SITE.process_exception(request, error) is not None) is refused, state
