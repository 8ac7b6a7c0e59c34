"""Tokens of programs: made once, kept as a digest, named, limited in time and in what they may do."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from rest_framework.test import APIClient

from common import patience
from hits import tasks
from hits.accounts.verbs import api_tokens
from hits.models import ApiToken, SignInTries
from tests.hits import factories

TOKEN = "/api/token/"
CREDENTIALS = {"username": "lena", "password": "a good password"}


@pytest.fixture
def lena(db: None) -> Any:
    return factories.user("lena", password="a good password")


def ask(place: str = "192.0.2.7", **fields: Any) -> Any:
    return APIClient().post(TOKEN, CREDENTIALS | fields, format="json", REMOTE_ADDR=place)


def with_token(token: str) -> APIClient:
    return APIClient(headers={"Authorization": f"Token {token}"})


def test_name_and_password_give_a_token_that_signs_in(lena: Any) -> None:
    answer = ask()
    assert answer.status_code == 200
    assert with_token(answer.json()["token"]).get("/api/projects/").json() == {"results": [], "next": None}


def test_a_form_does_as_well(lena: Any) -> None:
    body = "username=lena&password=a+good+password"
    assert APIClient().post(TOKEN, body, content_type="application/x-www-form-urlencoded").status_code == 200


def test_every_call_makes_another_token_with_a_name_a_scope_and_an_end(lena: Any) -> None:
    first, second = ask().json(), ask(name="export", scope="read", days=1).json()
    assert first["token"] != second["token"]
    assert (first["scope"], second["name"], second["scope"]) == ("write", "export", "read")
    row = ApiToken.objects.get(name="export")
    assert timedelta(hours=23) < row.expires_at - timezone.now() <= timedelta(days=1)
    assert [each["name"] for each in with_token(first["token"]).get("/api/tokens/").json()] == ["export", "API"]
    assert with_token(second["token"]).get(TOKEN).json()["name"] == "export"


def test_nothing_that_is_kept_signs_in(lena: Any) -> None:
    token = ask().json()["token"]
    for value in ApiToken.objects.values_list("digest", "start").get():
        assert token not in value and with_token(value).get("/api/projects/").status_code == 401


@pytest.mark.parametrize("wrong", [{"scope": "all"}, {"days": 0}, {"days": 366}, {"name": "x" * 61}])
def test_what_a_token_cannot_be_is_refused_by_its_field(lena: Any, wrong: dict[str, Any]) -> None:
    answer = ask(**wrong)
    assert answer.status_code == 400
    assert list(answer.json()["error"]["details"]) == list(wrong)
    assert not ApiToken.objects.exists()


def test_an_expired_token_signs_nobody_in(lena: Any) -> None:
    token = ask().json()["token"]
    ApiToken.objects.update(expires_at=timezone.now())
    assert with_token(token).get("/api/projects/").status_code == 401


def test_a_wrong_password_and_an_unknown_name_look_the_same(lena: Any) -> None:
    answers = [ask(username=name, password="wrong") for name in ("lena", "nobody")]
    assert [answer.status_code for answer in answers] == [401, 401]
    assert answers[0].json() == answers[1].json()


def test_an_account_that_was_closed_gets_no_token_and_its_tokens_end(lena: Any) -> None:
    token = ask().json()["token"]
    lena.is_active = False
    lena.save()
    assert ask().status_code == 401
    assert with_token(token).get("/api/projects/").status_code == 401


def test_guessing_is_slowed_together_with_the_page_whatever_the_spelling(lena: Any) -> None:
    names = ["Lena ", "ｌｅｎａ", "LENA", "lena", "leｎa"]
    for name in names[: patience.SIGN_IN.free]:
        assert ask(username=name, password="wrong").status_code == 401
    answer = ask()
    assert answer.status_code == 429 and int(answer.headers["Retry-After"]) >= 1
    form = {"username": "lena", "password": "a good password"}
    assert APIClient().post("/sign-in/", form, REMOTE_ADDR="192.0.2.7").status_code == 429
    assert ask(place="198.51.100.3").status_code == 200
    assert ask(username="mara", password="wrong").status_code == 401


def test_a_token_revokes_itself_and_others_of_the_same_person_alone(lena: Any) -> None:
    first, second = ask(scope="read").json(), ask().json()
    stranger_row, stranger = api_tokens.make_token(factories.user("mara"), "x", "pay")
    assert with_token(stranger).delete(f"/api/tokens/{second['id']}/").status_code == 404
    assert with_token(first["token"]).delete(TOKEN).status_code == 204
    assert with_token(first["token"]).get("/api/projects/").status_code == 401
    assert with_token(second["token"]).delete(f"/api/tokens/{stranger_row.pk}/").status_code == 404
    assert with_token(second["token"]).delete(f"/api/tokens/{second['id']}/").status_code == 204
    assert with_token(second["token"]).get("/api/projects/").status_code == 401


def test_a_person_has_a_limited_number_of_tokens(lena: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_tokens, "MOST_TOKENS", 2)
    assert [ask().status_code for _ in range(3)] == [200, 200, 409]
    ApiToken.objects.update(expires_at=timezone.now())
    assert ask().status_code == 200


def test_no_token_lives_longer_than_a_year_whoever_makes_it(lena: Any) -> None:
    row, _ = api_tokens.make_token(lena, "for ever", "read", days=3650)
    assert row.expires_at - timezone.now() <= timedelta(days=api_tokens.MOST_DAYS)


def test_a_new_password_ends_all_tokens_wherever_it_is_set(lena: Any) -> None:
    token = ask().json()["token"]
    lena.set_password("another good password")
    lena.save()
    assert with_token(token).get("/api/projects/").status_code == 401


def test_a_new_cost_of_hashing_ends_no_token(lena: Any, settings: Any) -> None:
    token = ask().json()["token"]
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.ScryptPasswordHasher", *settings.PASSWORD_HASHERS]
    assert ask().status_code == 200
    lena.refresh_from_db()
    assert lena.password.startswith("scrypt")
    assert with_token(token).get("/api/projects/").status_code == 200


def test_what_has_run_out_is_deleted_in_time(lena: Any) -> None:
    ask(username="mara", password="wrong")
    api_tokens.make_token(lena, "living", "read")
    api_tokens.make_token(lena, "expired", "read")
    ApiToken.objects.filter(name="expired").update(expires_at=timezone.now())
    assert tasks.forget_tries() == 1
    SignInTries.objects.update(last_at=timezone.now() - timedelta(hours=25))
    assert tasks.forget_tries() == 3
    assert ApiToken.objects.get().name == "living" and not SignInTries.objects.exists()


def test_the_command_lists_makes_and_revokes(lena: Any) -> None:
    def run(*arguments: str) -> str:
        out = StringIO()
        call_command("api_tokens", "lena", *arguments, stdout=out)
        return out.getvalue().strip()

    token = run("--make", "nightly", "--scope", "pay", "--days", "7")
    assert with_token(token).get("/api/projects/").status_code == 200
    row = ApiToken.objects.get()
    assert run().startswith(f"{row.pk}  nightly  {token[:13]}…  pay  used {row.last_used_at:%Y-%m-%d %H:%M} UTC")
    assert run("--revoke", str(row.pk)) == "Revoked."
    with pytest.raises(CommandError, match="has no token"):
        run("--revoke", str(row.pk))
    with pytest.raises(CommandError, match="1 to 365"):
        run("--make", "x", "--days", "400")


def test_a_lead_is_created_by_command_with_a_password_of_the_environment(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEAD_PASSWORD", "a good password")
    out = StringIO()
    call_command("create_lead", "nora", stdout=out)
    assert out.getvalue() == "nora\n"
    assert ask(username="nora").status_code == 200
    for name, said in (("NORA", "already"), ("ｎora", "already"), ("two words", "valid username")):
        with pytest.raises(CommandError, match=said):
            call_command("create_lead", name, stdout=StringIO())
