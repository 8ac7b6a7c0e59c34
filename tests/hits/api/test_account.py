"""Signing in by token."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.hits import factories

TOKEN = "/api/token/"


@pytest.fixture
def lena(db: None) -> Any:
    return factories.user("lena", password="a good password")


def test_name_and_password_give_a_token_that_signs_in(lena: Any) -> None:
    answer = APIClient().post(TOKEN, {"username": "lena", "password": "a good password"}, format="json")
    assert answer.status_code == 200
    client = APIClient(headers={"Authorization": f"Token {answer.json()['token']}"})
    assert client.get("/api/projects/").json() == {"results": [], "next": None}


def test_a_form_does_as_well(lena: Any) -> None:
    body = "username=lena&password=a+good+password"
    assert APIClient().post(TOKEN, body, content_type="application/x-www-form-urlencoded").status_code == 200


def test_a_wrong_password_and_an_unknown_name_look_the_same(lena: Any) -> None:
    client = APIClient()
    answers = [client.post(TOKEN, {"username": n, "password": "wrong"}, format="json") for n in ("lena", "nobody")]
    assert [answer.status_code for answer in answers] == [401, 401]
    assert answers[0].json() == answers[1].json()


def test_an_account_that_was_closed_gets_no_token(lena: Any) -> None:
    lena.is_active = False
    lena.save()
    answer = APIClient().post(TOKEN, {"username": "lena", "password": "a good password"}, format="json")
    assert answer.status_code == 401


def test_guessing_is_braked_by_account_even_with_the_right_password(lena: Any) -> None:
    client = APIClient()
    for _ in range(10):
        client.post(TOKEN, {"username": "Lena ", "password": "wrong"}, format="json")
    answer = client.post(TOKEN, {"username": "lena", "password": "a good password"}, format="json")
    assert answer.status_code == 429
    assert client.post(TOKEN, {"username": "mara", "password": "wrong"}, format="json").status_code == 401


def test_a_revoked_token_opens_nothing_and_the_next_one_is_another(lena: Any) -> None:
    credentials = {"username": "lena", "password": "a good password"}
    first = APIClient().post(TOKEN, credentials, format="json").json()["token"]
    client = APIClient(headers={"Authorization": f"Token {first}"})
    assert client.delete(TOKEN).status_code == 204
    assert client.get("/api/projects/").status_code == 401
    assert APIClient().post(TOKEN, credentials, format="json").json()["token"] != first
