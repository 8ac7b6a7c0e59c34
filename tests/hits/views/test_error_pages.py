from __future__ import annotations

import logging
from typing import Any

import pytest
from django.test import Client

from tests import error_pages

pytestmark = pytest.mark.django_db


@pytest.fixture(params=[True, False], ids=["DEBUG", "no DEBUG"])
def debug(request: Any, settings: Any) -> None:
    settings.DEBUG = request.param


@pytest.mark.parametrize("address", ["/no/such/page/", "/static/none.css", "/task/"])
def test_an_unknown_address_has_a_page_of_ours(debug: None, address: str) -> None:
    assert error_pages.is_designed(error_pages.unknown_address(address), 404)


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("/projects/river/pools/pool-a/make-link/", "/projects/river/pools/pool-a/"),
        ("/projects/river/pools/pool-a/links/7/revoke-link/", "/projects/river/pools/pool-a/"),
        ("/projects/river/webhooks/add/", "/projects/river/webhooks/"),
        ("/projects/river/models/register/", "/projects/river/models/"),
        ("/account/tokens/make/", "/account/"),
        ("/events/", "/"),
    ],
)
def test_the_address_of_a_form_leads_to_the_page_it_belongs_to(debug: None, address: str, page: str) -> None:
    assert error_pages.form_address(address, page)


def test_programs_get_no_page_for_a_method_that_is_not_allowed() -> None:
    answer = Client().post("/health/")
    assert (answer.status_code, answer.content) == (405, b"")


def test_a_project_of_somebody_else_has_the_same_page(debug: None, alice: Any) -> None:
    client = Client()
    client.force_login(alice)
    assert error_pages.is_designed(client.get("/projects/none/"), 404)


@pytest.mark.parametrize(("error", "status"), error_pages.RAISED)
def test_whatever_a_page_raises_has_a_page_of_ours_and_the_log_has_the_rest(
    debug: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: type[Exception], status: int
) -> None:
    with caplog.at_level(logging.ERROR):
        answer = error_pages.raised(monkeypatch, "hits.accounts.pages.signing_in.SignIn.get", "/sign-in/", error)
    assert error_pages.is_designed(answer, status)
    assert ("secret inside" in caplog.text) == (status in (400, 500))


def test_an_address_without_its_slash_still_leads_to_the_page(debug: None) -> None:
    assert Client().get("/sign-in").headers["Location"] == "/sign-in/"
