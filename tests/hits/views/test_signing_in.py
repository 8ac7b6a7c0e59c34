from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.views import signing_in

pytestmark = pytest.mark.django_db


def _attempt(password: str, username: str = "alice") -> Any:
    return Client().post(reverse("login"), {"username": username, "password": password})


def test_the_right_password_opens_the_projects(alice: Any) -> None:
    assert _attempt("reading by the river").headers["Location"] == reverse("projects")


def test_after_signing_in_one_is_where_one_wanted_to_be(alice: Any) -> None:
    reply = Client().post(
        reverse("login"),
        {"username": "alice", "password": "reading by the river", "next": reverse("new-project")},
    )
    assert reply.headers["Location"] == reverse("new-project")


def test_signing_in_never_leads_to_another_site(alice: Any) -> None:
    fields = {"username": "alice", "password": "reading by the river", "next": "https://elsewhere.example/"}
    assert Client().post(reverse("login"), fields).headers["Location"] == reverse("projects")


def test_guessing_is_braked_even_for_the_right_password(alice: Any) -> None:
    for _ in range(signing_in.ALLOWED_FAILURES):
        assert b"Please enter a correct" in _attempt("wrong").content
    assert b"Too many failed attempts" in _attempt("reading by the river").content


def test_the_brake_holds_one_account_and_not_the_others(alice: Any, bob: Any) -> None:
    for _ in range(signing_in.ALLOWED_FAILURES):
        _attempt("wrong", "bob")
    assert _attempt("reading by the river").status_code == 302


def test_a_success_forgets_the_failures_before(alice: Any) -> None:
    for _ in range(signing_in.ALLOWED_FAILURES - 1):
        _attempt("wrong")
    assert _attempt("reading by the river").status_code == 302
    for _ in range(signing_in.ALLOWED_FAILURES - 1):
        _attempt("wrong")
    assert _attempt("reading by the river").status_code == 302


def test_signing_out_takes_a_post(client: Client) -> None:
    assert client.get(reverse("logout")).status_code == 405
    assert client.post(reverse("logout")).headers["Location"] == reverse("login")
    assert client.get(reverse("projects")).status_code == 302
