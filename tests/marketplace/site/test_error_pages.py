from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from tests import error_pages

pytestmark = pytest.mark.django_db


@pytest.fixture(params=[True, False], ids=["DEBUG", "no DEBUG"])
def debug(request: Any, settings: Any) -> None:
    settings.DEBUG = request.param


@pytest.mark.parametrize("address", ["/no/such/page/", "/static/none.css", "/operator/none/"])
def test_an_unknown_address_has_a_page_of_ours(debug: None, address: str) -> None:
    assert error_pages.is_designed(error_pages.unknown_address(address), 404)


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("/operator/second-factor/codes/", "/operator/second-factor/"),
        ("/operator/workers/A1/export/", "/operator/workers/A1/"),
        ("/accounts/logout/", "/"),
    ],
)
def test_the_address_of_a_form_leads_to_the_page_it_belongs_to(debug: None, address: str, page: str) -> None:
    assert error_pages.form_address(address, page)


@pytest.mark.parametrize(("error", "status"), error_pages.RAISED)
def test_whatever_a_page_raises_has_a_page_of_ours(
    debug: None, monkeypatch: pytest.MonkeyPatch, error: type[Exception], status: int
) -> None:
    answer = error_pages.raised(monkeypatch, "marketplace.site.views.accounts.render", "/accounts/login/", error)
    assert error_pages.is_designed(answer, status)


def test_an_address_without_its_slash_still_leads_to_the_page(debug: None) -> None:
    assert Client().get("/accounts/login").headers["Location"] == "/accounts/login/"


def test_no_trail_of_an_operators_page_ends_in_a_stroke() -> None:
    pages = sorted((settings.BASE_DIR / "templates" / "marketplace" / "operator").glob("*.html"))
    trails = [
        line for page in pages for line in page.read_text(encoding="utf-8").splitlines() if 'class="crumbs"' in line
    ]
    assert len(trails) > 20
    assert [trail for trail in trails if trail.rstrip().endswith("/</p>")] == []
