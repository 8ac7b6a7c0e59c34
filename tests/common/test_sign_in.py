from __future__ import annotations

import pytest
from django.test import RequestFactory

from common.sign_in import wanted_address


@pytest.mark.parametrize(
    ("wanted", "secure", "address"),
    [
        ("/projects/river/?page=2", False, "/projects/river/?page=2"),
        ("https://testserver/account/", True, "https://testserver/account/"),
        ("http://testserver/account/", True, "/home/"),
        ("https://elsewhere.example/", False, "/home/"),
        ("//elsewhere.example/", False, "/home/"),
        ("/\\elsewhere.example/", False, "/home/"),
        ("javascript:alert(1)", False, "/home/"),
        ("", False, "/home/"),
    ],
)
def test_one_goes_on_within_the_site_only(wanted: str, secure: bool, address: str) -> None:
    factory = RequestFactory()
    asked = {"next": wanted}
    assert wanted_address(factory.get("/sign-in/", asked, secure=secure), "/home/") == address
    assert wanted_address(factory.post("/sign-in/", asked, secure=secure), "/home/") == address


def test_the_form_goes_before_the_address_and_without_both_there_is_nothing() -> None:
    factory = RequestFactory()
    assert wanted_address(factory.post("/sign-in/?next=/one/", {"next": "/two/"})) == "/two/"
    assert wanted_address(factory.post("/sign-in/?next=/one/")) == "/one/"
    assert wanted_address(factory.get("/sign-in/")) == ""
