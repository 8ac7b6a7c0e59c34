from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests import error_pages

pytestmark = pytest.mark.django_db


@pytest.fixture(params=[True, False], ids=["DEBUG", "no DEBUG"])
def debug(request: Any, settings: Any) -> None:
    settings.DEBUG = request.param


@pytest.mark.parametrize("address", ["/no/such/page/", "/static/none.css", "/operator/none/"])
def test_an_unknown_address_has_a_page_of_ours(debug: None, address: str) -> None:
    assert error_pages.is_designed(error_pages.unknown_address(address), 404)


@pytest.mark.parametrize(("error", "status"), error_pages.RAISED)
def test_whatever_a_page_raises_has_a_page_of_ours(
    debug: None, monkeypatch: pytest.MonkeyPatch, error: type[Exception], status: int
) -> None:
    answer = error_pages.raised(monkeypatch, "marketplace.site.views.accounts.render", "/accounts/login/", error)
    assert error_pages.is_designed(answer, status)


def test_an_address_without_its_slash_still_leads_to_the_page(debug: None) -> None:
    assert Client().get("/accounts/login").headers["Location"] == "/accounts/login/"
