"""A lead's own account page: tokens that are shown once, and the password."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from common import patience
from hits.accounts.verbs.api_tokens import make_token
from hits.models import ApiToken

RIGHT, NEW = "reading by the river", "another river to read"


@pytest.fixture
def page(alice: Any) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def status(token: str) -> int:
    return APIClient(headers={"Authorization": f"Token {token}"}).get("/api/projects/").status_code


def change(page: Client, old: str, new: str = NEW) -> Any:
    fields = {"old_password": old, "new_password1": new, "new_password2": new}
    return page.post(reverse("change-password"), fields)


def test_a_new_token_is_shown_once_and_can_be_revoked(page: Client) -> None:
    reply = page.post(reverse("make-token"), {"name": "nightly export", "scope": "read", "days": "30"}, follow=True)
    token = re.search(r"annotate_[\w-]{43}", reply.text).group()  # type: ignore[union-attr]
    assert "no-store" in reply.headers["Cache-Control"]
    assert status(token) == 200
    again = page.get(reply.redirect_chain[-1][0]).text
    assert token not in again and "The token was shown already" in again and ApiToken.objects.count() == 1
    later = page.get(reverse("account")).text
    assert token not in later and "nightly export" in later and token[:13] in later
    assert page.post(reverse("revoke-token", args=[ApiToken.objects.get().pk])).status_code == 302
    assert status(token) == 401


def test_a_faulty_token_is_not_made(page: Client) -> None:
    reply = page.post(reverse("make-token"), {"name": "", "scope": "all", "days": "0"})
    assert reply.status_code == 400 and not ApiToken.objects.exists()


def test_nobody_revokes_or_sees_the_token_of_another_lead(page: Client, bob: Any) -> None:
    row, token = make_token(bob, "the other one's", "read")
    assert "the other one" not in page.get(reverse("account")).text
    page.post(reverse("revoke-token", args=[row.pk]))
    assert status(token) == 200


def test_an_address_is_asked_for_only_where_letters_are_sent(page: Client, alice: Any, settings: Any) -> None:
    alice.email = ""
    alice.save()
    said = page.get(reverse("account")).text
    assert "This installation sends no e-mail" in said and "Add" not in said.partition(">Password<")[2]
    settings.MAIL = True
    said = page.get(reverse("account")).text
    assert "Your account has no e-mail address" in said and "sends no e-mail" not in said


def test_a_new_password_ends_tokens_and_other_sessions_and_keeps_this_one(page: Client, alice: Any) -> None:
    elsewhere = Client()
    elsewhere.force_login(alice)
    _, token = make_token(alice, "program", "pay")
    assert change(page, RIGHT).status_code == 302
    assert status(token) == 401
    assert elsewhere.get(reverse("projects")).status_code == 302
    assert page.get(reverse("projects")).status_code == 200
    alice.refresh_from_db()
    assert alice.check_password(NEW)


def test_a_session_that_was_left_open_lets_nobody_guess_the_password(page: Client) -> None:
    statuses = [change(page, "wrong").status_code for _ in range(patience.PASSWORD.free + 1)]
    assert statuses == [400] * patience.PASSWORD.free + [429]
    assert change(page, RIGHT).status_code == 429


@pytest.mark.parametrize("name", ["make-token", "change-password"])
def test_getting_changes_nothing(page: Client, name: str) -> None:
    assert page.get(reverse(name)).status_code == 405
