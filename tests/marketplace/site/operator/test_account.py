"""An operator's own account: the second factor, and where the operator is signed in."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django_otp.plugins.otp_totp.models import TOTPDevice

from common import patience, second_factor
from marketplace.models import OperatorAction, OperatorSession, RecoveryCode, Worker
from tests.marketplace.site.operator.conftest import text_of
from tests.one_time_codes import code

RIGHT = "a-long-password"
RECOVERY = re.compile(r"(?:[a-z2-7]{4}-){3}[a-z2-7]{4}")


@pytest.fixture
def app(operator: User) -> TOTPDevice:
    """Olive's app: her second factor is on."""
    return TOTPDevice.objects.create(user=operator, name="app", confirmed=True)


def sign_in(wanted: str = "", agent: str = "") -> tuple[Client, str]:
    """A browser after name and password, and where it is led."""
    browser = Client(headers={"User-Agent": agent})
    reply = browser.post("/accounts/login/", {"username": "olive", "password": RIGHT, "next": wanted})
    return browser, reply.headers["Location"]


def give(browser: Client, given: str) -> Any:
    return browser.post("/operator/code/", {"code": given})


def told() -> list[str]:
    return list(OperatorAction.objects.order_by("pk").values_list("about", flat=True))


def test_signing_in_takes_the_code_after_the_password(app: TOTPDevice) -> None:
    browser, there = sign_in("/operator/log/")
    assert there == "/operator/code/?next=%2Foperator%2Flog%2F"
    assert browser.get("/operator/").status_code == 302
    assert give(browser, "000000").status_code == 400
    shown = code(app)
    assert browser.post(there, {"code": shown, "next": "/operator/log/"}).headers["Location"] == "/operator/log/"
    assert browser.get("/operator/").status_code == 200
    again, _ = sign_in()
    assert give(again, shown).status_code == 400
    assert give(Client(), code(app, 1)).headers["Location"].startswith("/accounts/login/")


def test_codes_are_not_guessed(app: TOTPDevice) -> None:
    browser, _ = sign_in()
    statuses = [give(browser, "000000").status_code for _ in range(patience.PASSWORD.free + 1)]
    assert statuses == [400] * patience.PASSWORD.free + [429]
    assert give(sign_in()[0], code(app)).status_code == 429


def test_it_is_set_up_and_turned_off_and_both_are_written_down(desk: Client, operator: User) -> None:
    elsewhere = Client()
    elsewhere.force_login(operator)
    page = desk.post("/operator/second-factor/begin/", follow=True).content.decode()
    assert "<svg viewBox" in page and desk.post("/operator/second-factor/", {"code": "000000"}).status_code == 400
    device = TOTPDevice.objects.get()
    shown = desk.post("/operator/second-factor/", {"code": code(device)}, follow=True)
    codes = RECOVERY.findall(shown.content.decode())
    assert len(codes) == 10
    assert (desk.get("/operator/").status_code, elsewhere.get("/operator/").status_code) == (200, 302)
    assert give(sign_in()[0], codes[0]).status_code == 302
    reloaded = desk.get(shown.redirect_chain[-1][0]).content.decode()
    assert not RECOVERY.search(reloaded) and "The recovery codes were shown already" in reloaded
    shown = desk.post("/operator/second-factor/codes/", {"code": codes[1]}, follow=True)
    fresh = RECOVERY.findall(shown.content.decode())
    form = {"password": "wrong", "code": fresh[0]}
    assert desk.post("/operator/second-factor/remove/", form).status_code == 400
    assert desk.post("/operator/second-factor/remove/", form | {"password": RIGHT}).status_code == 302
    assert sign_in()[1] == "/"
    assert "Turned the own second factor on" in told() and told()[-1] == "Turned the own second factor off"


def test_a_marketplace_that_asks_for_one_shows_operators_nothing_before(
    desk: Client, worker: Worker, settings: Any
) -> None:
    settings.MARKETPLACE_REQUIRE_SECOND_FACTOR = True
    assert desk.get("/operator/workers/").headers["Location"] == "/operator/second-factor/"
    assert desk.post("/operator/password/").headers["Location"] == "/operator/second-factor/"
    assert "asks every operator" in text_of(desk.get("/operator/second-factor/"))
    of_worker = Client()
    of_worker.force_login(worker.user)
    assert of_worker.get("/").status_code == 200


def test_a_session_from_before_gives_a_code_first(desk: Client, app: TOTPDevice) -> None:
    assert desk.get("/operator/log/").headers["Location"] == "/operator/code/?next=/operator/log/"
    assert give(desk, code(app)).status_code == 302
    assert desk.get("/operator/log/").status_code == 200


def test_sessions_of_operators_alone_are_listed_and_ended(operator: User, worker: Worker) -> None:
    Client().force_login(worker.user)
    here, _ = sign_in(agent="Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    there, _ = sign_in(agent="curl/8.5.0")
    assert sorted(OperatorSession.objects.values_list("device", flat=True)) == ["Firefox on Linux", "a program: curl"]
    row = OperatorSession.objects.get(device="a program: curl")
    assert "Firefox on Linux this one" in text_of(here.get("/operator/account/"))
    assert here.post(f"/operator/account/sessions/{row.pk}/end/").status_code == 302
    assert (here.get("/operator/").status_code, there.get("/operator/").status_code) == (200, 302)
    assert told() == ["Ended a session of the own account: a program: curl"]
    other = User.objects.create_user("oscar", password=RIGHT, is_staff=True)
    stranger = Client()
    stranger.force_login(other)
    theirs = OperatorSession.objects.get(user=other)
    assert here.post(f"/operator/account/sessions/{theirs.pk}/end/").status_code == 404
    third, _ = sign_in()
    here.post("/operator/account/sessions/end-others/")
    assert (third.get("/operator/").status_code, stranger.get("/operator/").status_code) == (302, 200)


def test_whoever_runs_the_server_takes_it_away(desk: Client, app: TOTPDevice, operator: User) -> None:
    second_factor.new_codes(operator, RecoveryCode.objects.all())
    call_command("resetsecondfactor", "olive")
    assert not TOTPDevice.objects.exists() and not RecoveryCode.objects.exists()
    assert sign_in()[1] == "/"
    for name, said in (("olive", "no second factor"), ("walter", "no operator")):
        with pytest.raises(CommandError, match=said):
            call_command("resetsecondfactor", name)
