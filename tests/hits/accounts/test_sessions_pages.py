"""Where a lead is signed in: listed in words, and ended one by one or all at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from common.devices import device_words
from hits.models import AccountAction, LeadSession
from tests.hits.api_calls import signed_in

pytestmark = pytest.mark.django_db
RIGHT = "reading by the river"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"
PHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.5 Mobile/15E148 Safari/604.1"
)
EDGE = (
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 "
    "Safari/537.36 Edg/141.0.0.0"
)


def browser(user: Any, agent: str = FIREFOX) -> Client:
    there = Client(headers={"User-Agent": agent})
    there.post(reverse("login"), {"username": user.username, "password": RIGHT})
    return there


def is_in(there: Client) -> bool:
    return there.get(reverse("projects")).status_code == 200


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (FIREFOX, "Firefox on Windows"),
        (PHONE, "Safari on iPhone"),
        (EDGE, "Edge on macOS"),
        ("curl/8.5.0", "a program: curl"),
        ("\x00" * 400, "an unknown device"),
        ("x" * 400, "a program: " + "x" * 69),
    ],
)
def test_a_browser_is_told_in_words(agent: str, said: str) -> None:
    assert device_words(agent) == said


def test_sessions_are_listed_and_one_is_ended(alice: Any) -> None:
    here, there = browser(alice), browser(alice, PHONE)
    page = here.get(reverse("account")).text
    assert page.count("this one") == 1 and "Firefox on Windows" in page and "Safari on iPhone" in page
    phone = LeadSession.objects.get(device="Safari on iPhone")
    assert here.post(reverse("end-session", args=[phone.pk])).status_code == 302
    assert is_in(here) and not is_in(there)
    assert "Safari on iPhone</strong>" not in here.get(reverse("account")).text
    row = AccountAction.objects.get()
    assert (row.account, row.verb, row.about) == (alice, "ended a session", "Safari on iPhone")


def test_all_others_are_ended_at_once(alice: Any) -> None:
    here, others = browser(alice), [browser(alice, PHONE), browser(alice, EDGE)]
    here.post(reverse("end-other-sessions"))
    assert is_in(here) and not any(map(is_in, others))


def test_nobody_ends_or_sees_the_session_of_somebody_else(lead_client: Client, bob: Any, alice: Any) -> None:
    bob.set_password(RIGHT)
    bob.save()
    theirs = browser(bob, PHONE)
    row = LeadSession.objects.get(user=bob)
    assert "iPhone" not in lead_client.get(reverse("account")).text
    assert lead_client.post(reverse("end-session", args=[row.pk])).status_code == 404
    assert signed_in(alice).delete(f"/api/account/sessions/{row.pk}/").status_code == 404
    with pytest.raises(CommandError, match=f"alice has no session {row.pk}"):
        call_command("account", "alice", "--end-session", str(row.pk))
    lead_client.post(reverse("end-other-sessions"))
    assert is_in(theirs)


def test_a_new_password_and_signing_out_end_their_rows(alice: Any) -> None:
    here, there = browser(alice), browser(alice, PHONE)
    new = "another river to read"
    here.post(reverse("change-password"), {"old_password": RIGHT, "new_password1": new, "new_password2": new})
    assert is_in(here) and not is_in(there)
    assert LeadSession.objects.get().device == "Firefox on Windows"
    here.post(reverse("logout"))
    assert not LeadSession.objects.exists()


def test_when_it_was_last_seen_is_written_now_and_then(alice: Any) -> None:
    here = browser(alice)
    first = LeadSession.objects.get()
    here.get(reverse("projects"))
    assert LeadSession.objects.get().last_seen_at == first.last_seen_at
    session = here.session
    session["seen"] = [first.first_seen_at.timestamp(), (timezone.now() - timedelta(minutes=6)).timestamp()]
    session.save()
    here.get(reverse("projects"))
    now = LeadSession.objects.get()
    assert now.last_seen_at > first.last_seen_at and now.first_seen_at == first.first_seen_at


def test_a_program_and_whoever_runs_the_server_list_and_end_them_too(alice: Any, capsys: Any) -> None:
    browser(alice), browser(alice, PHONE), browser(alice, EDGE)
    api = signed_in(alice)
    rows = api.get("/api/account/sessions/").json()
    assert [row["device"] for row in rows] == ["Edge on macOS", "Safari on iPhone", "Firefox on Windows"]
    assert not any(row["this_one"] for row in rows)
    assert api.delete(f"/api/account/sessions/{rows[0]['id']}/").status_code == 204
    call_command("account", "alice")
    assert "Safari on iPhone" in capsys.readouterr().out
    call_command("account", "alice", "--end-session", str(rows[1]["id"]))
    assert signed_in(alice, "read").delete("/api/account/sessions/").status_code == 403
    assert api.delete("/api/account/sessions/").json() == {"ended": 1}
    assert not LeadSession.objects.exists()


@pytest.mark.parametrize("name", ["end-other-sessions", "begin-second-factor", "remove-second-factor"])
def test_getting_changes_nothing_and_a_form_needs_its_token(alice: Any, name: str) -> None:
    here = Client(enforce_csrf_checks=True)
    here.force_login(alice)
    assert here.get(reverse(name)).status_code == 405
    assert here.post(reverse(name)).status_code == 403
