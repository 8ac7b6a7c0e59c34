from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from common import patience
from hits.models import SignInTries

pytestmark = pytest.mark.django_db
RIGHT = "reading by the river"


def _attempt(password: str, username: str = "alice", place: str = "192.0.2.7", client: Client | None = None) -> Any:
    fields = {"username": username, "password": password}
    return (client or Client()).post(reverse("login"), fields, REMOTE_ADDR=place)


def test_the_right_password_opens_the_projects(alice: Any) -> None:
    assert _attempt(RIGHT).headers["Location"] == reverse("projects")


def test_after_signing_in_one_is_where_one_wanted_to_be(alice: Any) -> None:
    fields = {"username": "alice", "password": RIGHT, "next": reverse("new-project")}
    assert Client().post(reverse("login"), fields).headers["Location"] == reverse("new-project")


def test_signing_in_never_leads_to_another_site(alice: Any) -> None:
    fields = {"username": "alice", "password": RIGHT, "next": "https://elsewhere.example/"}
    assert Client().post(reverse("login"), fields).headers["Location"] == reverse("projects")


def test_after_five_guesses_from_one_place_even_the_right_password_waits_there(alice: Any) -> None:
    for _ in range(patience.SIGN_IN.free):
        assert b"Please enter a correct" in _attempt("wrong").content
    refused = _attempt(RIGHT)
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= patience.SIGN_IN.first
    assert b"Too many tries with this name" in refused.content
    assert _attempt(RIGHT, place="198.51.100.1").status_code == 302


def test_guesses_from_many_places_never_lock_a_lead_out_of_a_known_browser(alice: Any) -> None:
    home = Client()
    assert _attempt(RIGHT, client=home).status_code == 302
    home.post(reverse("logout"))
    answers = [_attempt("wrong", place=f"198.51.100.{n}").status_code for n in range(40)]
    assert answers.count(200) == patience.SIGN_IN_AS_NAME.free
    assert _attempt(RIGHT, place="203.0.113.5").status_code == 429
    assert _attempt(RIGHT, client=home).status_code == 302


def test_a_known_browser_may_not_guess_either(alice: Any, bob: Any) -> None:
    home = Client()
    _attempt(RIGHT, client=home)
    home.post(reverse("logout"))
    assert [_attempt("wrong", client=home).status_code for _ in range(6)][-1] == 429
    assert [_attempt("wrong", "bob", client=home).status_code for _ in range(6)][-1] == 429


def test_spellings_of_one_name_are_counted_together_and_sign_in_alike(alice: Any) -> None:
    assert _attempt(RIGHT, "ＡＬＩＣＥ ").status_code == 302
    spellings = ["alice", "ａｌｉｃｅ", "ALICE", "𝓪𝓵𝓲𝓬𝓮", "ａlice", "aｌice"]
    assert [_attempt("wrong", name).status_code for name in spellings] == [200] * 5 + [429]


def test_guesses_of_one_name_do_not_hold_another_one_up(alice: Any, bob: Any) -> None:
    for _ in range(patience.SIGN_IN.free + 1):
        _attempt("wrong", "bob")
    assert _attempt(RIGHT).status_code == 302


def test_a_success_forgets_the_failures_before(alice: Any) -> None:
    for _ in range(2):
        for _ in range(patience.SIGN_IN.free - 1):
            _attempt("wrong")
        assert _attempt(RIGHT).status_code == 302


def test_behind_a_proxy_the_address_that_it_adds_counts(alice: Any, settings: Any) -> None:
    settings.PROXIES = 1
    fields = {"username": "alice", "password": "wrong"}
    for n in range(patience.SIGN_IN.free + 1):
        forwarded = {"X-Forwarded-For": f"10.0.0.{n}, 192.0.2.9"}
        answer = Client().post(reverse("login"), fields, headers=forwarded)
    assert answer.status_code == 429


def test_the_table_of_tries_names_nobody(alice: Any) -> None:
    _attempt("wrong")
    kept = str(list(SignInTries.objects.values()))
    assert SignInTries.objects.count() == 3 and "alice" not in kept and "192.0.2.7" not in kept


def test_signing_out_takes_a_post(lead_client: Client) -> None:
    assert lead_client.get(reverse("logout")).status_code == 405
    assert lead_client.post(reverse("logout")).headers["Location"] == reverse("login")
    assert lead_client.get(reverse("projects")).status_code == 302


@pytest.mark.parametrize("path", ["/admin/", "/admin/login/", "/admin/authtoken/tokenproxy/"])
def test_there_is_no_second_way_in(lead_client: Client, path: str) -> None:
    assert lead_client.get(path).status_code == 404
