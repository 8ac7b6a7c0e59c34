"""A second factor: set up with an app, asked for when signing in, and in the way of nobody else."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django_otp.plugins.otp_totp.models import TOTPDevice
from rest_framework.test import APIClient

from common import patience, second_factor
from hits.models import AccountAction, LeadSession, RecoveryCode
from tests.hits.api_calls import signed_in
from tests.one_time_codes import code

pytestmark = pytest.mark.django_db
RIGHT = "reading by the river"
CREDENTIALS = {"username": "alice", "password": RIGHT}
RECOVERY = re.compile(r"(?:[a-z2-7]{4}-){3}[a-z2-7]{4}")


def with_app(user: Any) -> tuple[TOTPDevice, list[str]]:
    """The app of a person whose second factor is on, and the recovery codes."""
    device = TOTPDevice.objects.create(user=user, name="app", confirmed=True)
    return device, second_factor.new_codes(user, RecoveryCode.objects.all())


def at_the_code(browser: Client | None = None, wanted: str = "") -> Client:
    """A browser in which the password was right."""
    browser = browser or Client()
    reply = browser.post(reverse("login"), {**CREDENTIALS, "next": wanted})
    assert reply.headers["Location"].startswith(reverse("sign-in-code"))
    return browser


def give(browser: Client, given: str, **more: str) -> Any:
    return browser.post(reverse("sign-in-code"), {"code": given, **more})


def is_in(browser: Client) -> bool:
    return browser.get(reverse("projects")).status_code == 200


def told(user: Any) -> list[str]:
    return list(AccountAction.objects.filter(account=user).order_by("id").values_list("verb", flat=True))


def test_it_is_set_up_with_a_picture_a_key_and_the_first_code(lead_client: Client, alice: Any) -> None:
    elsewhere = Client()
    elsewhere.force_login(alice)
    lead_client.get(reverse("second-factor"))
    assert not TOTPDevice.objects.exists()
    page = lead_client.post(reverse("begin-second-factor"), follow=True).text
    device = TOTPDevice.objects.get()
    assert '<svg viewBox="0 0' in page and 'class="qr"' in page and 'fill="#fff"' in page
    assert re.sub(r"\s", "", re.search(r'token">([A-Z2-7 ]+)<', page)[1]) in device.config_url  # type: ignore[index]
    assert lead_client.post(reverse("confirm-second-factor"), {"code": "000000"}).status_code == 400
    done = lead_client.post(reverse("confirm-second-factor"), {"code": code(device)}, follow=True)
    codes = RECOVERY.findall(done.text)
    assert len(set(codes)) == 10 and "no-store" in done.headers["Cache-Control"]
    again = lead_client.get(done.redirect_chain[-1][0]).text
    assert not RECOVERY.search(again) and "The recovery codes were shown already" in again
    assert not any(one.replace("-", "") in str(list(RecoveryCode.objects.values())) for one in codes)
    assert is_in(lead_client) and not is_in(elsewhere)
    assert told(alice) == ["turned the second factor on"]


def test_signing_in_takes_the_code_after_the_password(alice: Any) -> None:
    device, _ = with_app(alice)
    browser = at_the_code(wanted=reverse("new-project"))
    assert not is_in(browser)
    assert give(browser, "12345").status_code == 400 and not is_in(browser)
    assert give(browser, code(device), next=reverse("new-project")).headers["Location"] == reverse("new-project")
    assert is_in(browser)


def test_it_never_leads_to_another_site(alice: Any) -> None:
    device, _ = with_app(alice)
    there = give(at_the_code(), code(device), next="https://elsewhere.example/").headers["Location"]
    assert there == reverse("projects")


def test_a_code_is_good_once(alice: Any) -> None:
    device, codes = with_app(alice)
    shown = code(device)
    assert give(at_the_code(), shown).status_code == 302
    assert give(at_the_code(), shown).status_code == 400
    assert give(at_the_code(), codes[0].upper()).status_code == 302
    assert give(at_the_code(), codes[0]).status_code == 400
    assert told(alice) == ["used a recovery code"]
    assert RecoveryCode.objects.count() == 9


def test_codes_are_not_guessed(alice: Any) -> None:
    device, codes = with_app(alice)
    browser = at_the_code()
    statuses = [give(browser, "000000").status_code for _ in range(patience.PASSWORD.free + 1)]
    assert statuses == [400] * patience.PASSWORD.free + [429]
    elsewhere = give(at_the_code(), code(device))
    assert (elsewhere.status_code, int(elsewhere.headers["Retry-After"]) > 0) == (429, True)
    asked = APIClient().post("/api/token/", {**CREDENTIALS, "code": codes[0]}, format="json")
    assert asked.status_code == 429


def test_the_page_of_the_code_is_for_whoever_gave_the_password_a_moment_ago(
    alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    device, _ = with_app(alice)
    assert give(Client(), code(device)).headers["Location"] == reverse("login")
    late, changed = at_the_code(), at_the_code()
    monkeypatch.setattr(second_factor, "CODE_SECONDS", -1)
    assert give(late, code(device)).headers["Location"] == reverse("login")
    monkeypatch.undo()
    alice.set_password("another river to read")
    alice.save()
    assert give(changed, code(device)).headers["Location"] == reverse("login")


def test_a_session_from_before_gives_a_code_first(lead_client: Client, alice: Any) -> None:
    device, _ = with_app(alice)
    assert lead_client.get(reverse("account")).headers["Location"] == "/sign-in/code/?next=/account/"
    assert lead_client.post(reverse("make-token"), {"name": "x", "scope": "pay", "days": "1"}).status_code == 302
    assert not alice.api_tokens.exists()
    api = APIClient()
    api.force_login(alice)
    refused = api.get("/api/projects/")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "second_factor")
    assert give(lead_client, code(device)).status_code == 302
    assert is_in(lead_client)


def test_it_is_turned_off_with_password_and_code(lead_client: Client, alice: Any) -> None:
    device, codes = with_app(alice)
    give(lead_client, codes[0])
    url = reverse("remove-second-factor")
    assert lead_client.post(url, {"password": "wrong", "code": codes[1]}).status_code == 400
    assert lead_client.post(url, {"password": RIGHT, "code": "000000"}).status_code == 400
    assert TOTPDevice.objects.exists()
    # The code that came with a wrong password was not used up.
    assert lead_client.post(url, {"password": RIGHT, "code": codes[1]}).status_code == 302
    assert not TOTPDevice.objects.exists() and not RecoveryCode.objects.exists()
    assert Client().post(reverse("login"), CREDENTIALS).headers["Location"] == reverse("projects")


def test_new_recovery_codes_take_the_place_of_the_old_ones(lead_client: Client, alice: Any) -> None:
    device, codes = with_app(alice)
    give(lead_client, code(device))
    page = lead_client.post(reverse("new-recovery-codes"), {"code": code(device, 1)}, follow=True).text
    assert give(at_the_code(), codes[0]).status_code == 400
    assert give(at_the_code(), RECOVERY.findall(page)[0]).status_code == 302


def test_a_server_that_asks_for_one_shows_nothing_before(lead_client: Client, alice: Any, settings: Any) -> None:
    settings.REQUIRE_SECOND_FACTOR = True
    _, program = alice, signed_in(alice)
    assert lead_client.get(reverse("projects")).headers["Location"] == reverse("second-factor")
    assert lead_client.post(reverse("change-password")).headers["Location"] == reverse("second-factor")
    assert "asks every lead" in lead_client.get(reverse("second-factor")).text
    refused = APIClient().post("/api/token/", CREDENTIALS, format="json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "second_factor")
    assert program.get("/api/projects/").status_code == 200
    lead_client.post(reverse("begin-second-factor"))
    lead_client.post(reverse("confirm-second-factor"), {"code": code(TOTPDevice.objects.get())})
    assert is_in(lead_client)
    assert lead_client.post(reverse("logout")).status_code == 302


def test_a_program_gets_a_token_with_a_code_and_needs_none_afterwards(alice: Any) -> None:
    device, _ = with_app(alice)
    ask = {**CREDENTIALS, "name": "nightly"}
    assert APIClient().post("/api/token/", ask, format="json").status_code == 403
    assert APIClient().post("/api/token/", {**ask, "code": "000000"}, format="json").status_code == 403
    made = APIClient().post("/api/token/", {**ask, "code": code(device)}, format="json").json()
    api = APIClient(headers={"Authorization": f"Token {made['token']}"})
    found = api.get("/api/account/").json()
    described = {"username": "alice", "email": "", "second_factor": True, "recovery_codes": 10, "budget_limit": None}
    assert found == described
    assert [one["verb"] for one in api.get("/api/account/changes/").json()["results"]] == ["made an API token"]


def test_whoever_runs_the_server_takes_it_away(lead_client: Client, alice: Any, capsys: Any) -> None:
    with_app(alice)
    call_command("account", "alice", "--reset-second-factor")
    assert not TOTPDevice.objects.exists() and not LeadSession.objects.exists() and not is_in(lead_client)
    row = AccountAction.objects.get()
    assert (row.verb, row.origin) == ("reset the second factor", "command")
    call_command("account", "alice")
    assert "second factor off" in capsys.readouterr().out
    with pytest.raises(CommandError, match="alice has no second factor"):
        call_command("account", "alice", "--reset-second-factor")
