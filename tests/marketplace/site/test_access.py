"""Invitations, confirmation of addresses and lost passwords, page by page, letters included."""

import re
from datetime import datetime
from typing import Any

import pytest
from django.core import mail
from django.core.management import call_command
from django.test import Client

from marketplace.models import HitType, Worker
from marketplace.verbs import access

FORM = {"username": "nina", "password": "long-enough-7", "email": "nina@example.org", "country": "CA"}


@pytest.fixture
def visitor(db: None) -> Client:
    return Client()


@pytest.fixture
def post_office(settings: Any) -> None:
    """With a mail server; what it got is in mail.outbox."""
    settings.MARKETPLACE_MAIL = True


def letter_link(visitor: Client) -> str:
    """The path of the link in the newest letter."""
    call_command("tick", "--once")
    found = re.search(r"https?://[^/\s]+(/\S+)", str(mail.outbox[-1].body))
    assert found
    return found[1]


def test_without_an_invitation_nobody_signs_up_where_it_is_needed(visitor: Client, settings: Any) -> None:
    settings.MARKETPLACE_SIGN_UP = "invitation"
    for answer in (visitor.get("/accounts/signup/"), visitor.post("/accounts/signup/", FORM)):
        assert answer.status_code == 403
        assert "invitation" in answer.text
    assert not Worker.objects.exists()


def test_an_invitation_leads_to_an_account_once(visitor: Client, settings: Any, now: datetime) -> None:
    settings.MARKETPLACE_SIGN_UP = "invitation"
    path = f"/join/{access.invite(now=now).token}/"
    assert visitor.get(path).status_code == 200
    assert visitor.post(path, FORM).headers["Location"] == "/"
    assert visitor.get(path).status_code == 409
    assert Client().get(path).status_code == 410
    assert Client().post(path, FORM | {"username": "olga", "email": ""}).status_code == 410
    assert Worker.objects.count() == 1


def test_somebody_elses_invitation_says_so_in_the_form(visitor: Client, now: datetime) -> None:
    path = f"/join/{access.invite(now=now, email='olga@example.org').token}/"
    answer = visitor.post(path, FORM)
    assert answer.status_code == 400
    assert "another e-mail address" in str(answer.context["form"].errors["email"])


def test_an_address_is_confirmed_before_work_starts(
    visitor: Client, post_office: None, hit_type: HitType, hit: Any
) -> None:
    assert visitor.post("/accounts/signup/", FORM | {"email": ""}).status_code == 400
    visitor.post("/accounts/signup/", FORM)
    group = {"groupId": hit_type.hit_group_id}
    refused = visitor.post("/mturk/accept", group)
    assert refused.status_code == 403
    assert "Confirm your e-mail address" in refused.text
    path = letter_link(visitor)
    assert b"Yes, confirm it" in visitor.get(path).content
    assert Worker.objects.get().email_confirmed_at is None
    visitor.post(path)
    assert Worker.objects.get().email_confirmed_at is not None
    assert "/mturk/work/" in visitor.post("/mturk/accept", group).headers["Location"]


def test_the_letter_is_sent_again_a_few_times_only(visitor: Client, post_office: None) -> None:
    visitor.post("/accounts/signup/", FORM)
    answers = [visitor.post("/worker/profile/email/again/").status_code for _ in range(5)]
    assert answers == [302, 302, 302, 429, 429]
    call_command("tick", "--once")
    assert len(mail.outbox) == 4


def test_a_broken_or_old_link_confirms_nothing(visitor: Client, post_office: None) -> None:
    assert visitor.get("/accounts/confirm/abc:def:ghi/").status_code == 410
    assert visitor.post("/accounts/confirm/abc/").status_code == 410


def another_address(visitor: Client, now: datetime) -> tuple[str, str]:
    """Somebody who knows nina's password asks for an address: the paths that confirm and that cancel it."""
    nina = access.sign_up("nina", "long-enough-7", email="nina@example.org", country="CA", now=now)
    Worker.objects.update(email_confirmed_at=now)
    visitor.force_login(nina.user)
    wanted = {"email": "thief@example.org", "password": "long-enough-7"}
    assert visitor.post("/worker/profile/email/", wanted).headers["Location"] == "/worker/profile/?done=letter"
    call_command("tick", "--once")
    paths = {
        letter.to[0]: re.search(r"https?://[^/\s]+(/accounts/\S+)", str(letter.body)) for letter in mail.outbox[-2:]
    }
    confirms, cancels = paths["thief@example.org"], paths["nina@example.org"]
    assert confirms and cancels
    return confirms[1], cancels[1]


def test_a_new_password_ends_an_open_change_of_the_address(visitor: Client, post_office: None, now: datetime) -> None:
    confirms, cancels = another_address(visitor, now)
    passwords = {"old_password": "long-enough-7", "new_password1": "another-long-8", "new_password2": "another-long-8"}
    assert visitor.post("/worker/profile/password/", passwords).status_code == 302
    assert Client().post(confirms).status_code == 410
    assert Client().post(cancels).status_code == 410
    assert Worker.objects.get().user.email == "nina@example.org"


def test_the_end_of_all_sessions_ends_an_open_change_of_the_address(
    visitor: Client, post_office: None, now: datetime
) -> None:
    confirms, _ = another_address(visitor, now)
    access.end_sessions(Worker.objects.get().user)
    assert Client().post(confirms).status_code == 410


def test_the_old_address_cancels_a_change_without_signing_in(visitor: Client, post_office: None, now: datetime) -> None:
    confirms, cancels = another_address(visitor, now)
    assert "Keep the present address" in Client().get(cancels).text
    assert Client().get(confirms).status_code == 200  # looking at it changed nothing
    assert "Now choose a new password" in Client().post(cancels).text
    assert Client().post(confirms).status_code == 410
    assert Client().get(cancels).status_code == 410


def test_a_change_of_the_address_is_confirmed_once(visitor: Client, post_office: None, now: datetime) -> None:
    confirms, cancels = another_address(visitor, now)
    assert [Client().post(confirms).status_code for _ in range(2)] == [200, 200]
    assert Client().post(cancels).status_code == 410
    assert Worker.objects.get().user.email == "thief@example.org"


def test_a_lost_password_is_set_anew_once(visitor: Client, post_office: None, now: datetime) -> None:
    nina = access.sign_up("nina", "long-enough-7", email="nina@example.org", country="CA", now=now)
    elsewhere = Client()
    elsewhere.force_login(nina.user)
    call_command("tick", "--once")
    visitor.post("/accounts/forgot/", {"email": "Nina@example.org"})
    path = letter_link(visitor)
    form = visitor.get(path, follow=True)
    assert "nina" in form.text
    new = {"new_password1": "another-long-8", "new_password2": "another-long-8"}
    assert visitor.post(form.redirect_chain[-1][0], new).headers["Location"] == "/accounts/login/?reset=1"
    assert visitor.login(username="nina", password="another-long-8")
    assert elsewhere.get("/worker/").status_code == 302
    assert Client().get(path).status_code == 410


def test_the_answer_about_a_lost_password_names_nobody(visitor: Client, post_office: None, now: datetime) -> None:
    access.sign_up("nina", "long-enough-7", email="nina@example.org", country="CA", now=now)
    known, unknown = (
        Client().post("/accounts/forgot/", {"email": email}, follow=True)
        for email in ("nina@example.org", "nobody@example.org")
    )
    # Each form has a token of its own.
    known_text, unknown_text = (re.sub(r'value="\w{64}"', "", answer.text) for answer in (known, unknown))
    assert known_text == unknown_text
    assert known.redirect_chain == unknown.redirect_chain
    call_command("tick", "--once")
    assert [letter.to for letter in mail.outbox if "password" in letter.subject] == [["nina@example.org"]]


def test_letters_about_lost_passwords_are_not_a_weapon(visitor: Client, post_office: None, worker: Worker) -> None:
    answers = [visitor.post("/accounts/forgot/", {"email": "nina@example.org"}).status_code for _ in range(5)]
    assert answers == [302, 302, 302, 429, 429]


def test_without_mail_the_page_says_whom_to_ask(visitor: Client, settings: Any, worker: Worker, now: datetime) -> None:
    settings.MARKETPLACE_CONTACT = "Dana in room 12"
    assert "Dana in room 12" in visitor.get("/accounts/forgot/").text
    path = access.reset_link(worker, now).partition("8001")[2]
    assert "Set the password" in visitor.get(path, follow=True).text


def test_changing_the_password_ends_the_other_sessions(client: Client, worker: Worker) -> None:
    elsewhere = Client()
    elsewhere.force_login(worker.user)
    new = {"new_password1": "another-long-8", "new_password2": "another-long-8"}
    assert client.post("/worker/profile/password/", new | {"old_password": "wrong"}).status_code == 400
    assert client.post("/worker/profile/password/", new | {"old_password": "worker"}).status_code == 302
    assert client.get("/worker/").status_code == 200
    assert elsewhere.get("/worker/").status_code == 302


def test_a_new_address_needs_the_password_and_its_owner(client: Client, worker: Worker, post_office: None) -> None:
    change = {"email": "walter@example.org", "password": "worker"}
    assert client.post("/worker/profile/email/", change | {"password": "wrong"}).status_code == 400
    assert client.post("/worker/profile/email/", change).headers["Location"].endswith("?done=letter")
    worker.user.refresh_from_db()
    assert worker.user.email == ""
    client.post(letter_link(client))
    worker.user.refresh_from_db()
    assert worker.user.email == "walter@example.org"


def test_the_place_is_chosen_from_lists_and_the_country_once(client: Client, worker: Worker, settings: Any) -> None:
    settings.MARKETPLACE_SANDBOX = False
    assert client.post("/worker/profile/place/", {"country": "XX"}).status_code == 400
    client.post("/worker/profile/place/", {"country": "US"})
    client.post("/worker/profile/place/", {"country": "CA", "subdivision": "NY"})
    worker.refresh_from_db()
    assert (worker.country, worker.subdivision) == ("US", "NY")
    assert client.post("/worker/profile/place/", {"subdivision": "QC"}).status_code == 400
    assert "New York" in client.get("/worker/profile/").text


def test_a_session_gets_a_new_key_at_sign_in_and_its_cookie_is_closed_to_scripts(
    visitor: Client, worker: Worker
) -> None:
    visitor.get("/accounts/login/")
    visitor.cookies["marketplace_session"] = "planted"
    answer = visitor.post("/accounts/login/", {"username": "walter", "password": "worker"})
    cookie = answer.cookies["marketplace_session"]
    assert cookie.value != "planted"
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
