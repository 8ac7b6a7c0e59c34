"""Who gets to see the operator's pages, and what everybody else sees instead."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver

from marketplace.site.operator import urls
from tests.marketplace.site.operator.conftest import text_of


def addresses() -> Iterator[str]:
    given = {"pk": "1", "line_pk": "1", "customer_id": "A1", "worker_id": "A1", "slug": "x"}
    for pattern in urls.urlpatterns:
        assert isinstance(pattern, (URLPattern, URLResolver))
        route = str(pattern.pattern)
        for name, value in given.items():
            route = (
                route.replace(f"<int:{name}>", value).replace(f"<str:{name}>", value).replace(f"<slug:{name}>", value)
            )
        yield f"/operator/{route}"


@pytest.mark.django_db
@pytest.mark.parametrize("address", list(addresses()))
def test_only_operators_get_in(address: str, client: Client) -> None:
    for method in (client.get, client.post):
        assert method(address).status_code in (404, 405)
        answer = getattr(Client(), method.__name__)(address)
        assert answer.status_code == 405 or answer.headers["Location"].startswith("/accounts/login/?next=/operator/")


@pytest.mark.parametrize("address", list(addresses()))
def test_what_does_not_exist_is_a_page_that_says_so(address: str, desk: Client) -> None:
    for answer in (desk.get(address), desk.post(address)):
        assert answer.status_code in (200, 302, 400, 404, 405, 409)


def test_an_operator_who_is_no_worker_lands_on_the_overview(desk: Client) -> None:
    assert desk.get("/").headers["Location"] == "/operator/"
    assert desk.get("/operator/").status_code == 200


def test_signing_out_sends_a_page_that_refreshes_itself_to_sign_in(client: Client) -> None:
    answer = Client().get("/operator/live/", headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["HX-Refresh"]) == (204, "true")


def test_an_operator_who_was_dismissed_is_out(desk: Client, operator: Any) -> None:
    operator.is_active = False
    operator.save()
    assert desk.get("/operator/").status_code == 302


def test_no_cache_keeps_a_page_with_names_and_money(desk: Client) -> None:
    assert "no-store" in desk.get("/operator/workers/").headers["Cache-Control"]


def test_an_operator_changes_the_password_and_other_sessions_end(desk: Client, operator: User) -> None:
    elsewhere = Client()
    elsewhere.force_login(operator)
    form = {"old_password": "wrong", "new_password1": "another-long-one", "new_password2": "another-long-one"}
    assert desk.post("/operator/password/", form).status_code == 400
    done = desk.post("/operator/password/", form | {"old_password": "a-long-password"}, follow=True)
    assert "password is changed" in text_of(done)
    assert elsewhere.get("/operator/").status_code == 302
    assert Client().login(username="olive", password="another-long-one")
