"""Setting a password by a link: of a new account, and of one whose password was forgotten."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from common import patience
from hits.accounts.verbs import passwords
from hits.models import AccountAction, ApiToken, Invitation, LeadSession, Project
from hits.projects.verbs import invitations
from tests.hits import factories as make
from tests.hits.api_calls import signed_in
from tests.hits.doing import refused

pytestmark = pytest.mark.django_db
RIGHT, NEW = "reading by the river", "another river to read"
LINK = re.compile(r"http\S+(/sign-in/password/\S+)")


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def link_of(name: str) -> str:
    return LINK.search(run("account", name, "--password-link"))[1]  # type: ignore[index]


def set_password(link: str, password: str = NEW) -> Any:
    """Open the link as a browser does, and send the form."""
    browser = Client()
    opened = browser.get(link, follow=True)
    if opened.status_code != 200:
        return opened
    return browser.post(opened.redirect_chain[-1][0], {"new_password1": password, "new_password2": password})


def signs_in(name: str, password: str) -> bool:
    return Client().post(reverse("login"), {"username": name, "password": password}).status_code == 302


def ask(email: str, place: str = "192.0.2.7") -> Any:
    return Client().post(reverse("forgot-password"), {"email": email}, REMOTE_ADDR=place)


@pytest.fixture
def mailing(settings: Any, eager: None) -> None:
    settings.MAIL = True


def test_a_new_lead_sets_the_password_by_the_printed_link() -> None:
    said = run("create_lead", "nora")
    assert not signs_in("nora", said)
    link = LINK.search(said)[1]  # type: ignore[index]
    assert set_password(link, "short").status_code == 200
    assert set_password(link).headers["Location"] == reverse("login")
    assert signs_in("nora", NEW)
    assert list(AccountAction.objects.order_by("id").values_list("verb", "origin")) == [
        ("made the account", "command"),
        ("set a password by a link", "page"),
    ]


def test_an_account_that_cannot_be_made_is_refused_and_leaves_nothing(alice: Any) -> None:
    for name, email, password, said in (
        ("ALICE", "", "", "already"), ("two words", "", "", "valid username"), ("nora", "nobody", "", "valid email"),
        ("nora", "", "short", "too short"),
    ):  # fmt: skip
        with refused("account", match=said):
            passwords.create_account(name, email, password)
    with pytest.raises(CommandError, match="valid email"):
        run("create_lead", "nora", "--email", "nobody")
    assert list(User.objects.all()) == [alice] and not AccountAction.objects.exists()
    made = passwords.create_account("ｎora", "nora@EXAMPLE.org", NEW)
    assert (made.username, made.email, signs_in("nora", NEW)) == ("nora", "nora@example.org", True)
    assert not passwords.create_account("olga", "").has_usable_password()


def test_a_password_is_changed_together_with_its_record_or_not_at_all(
    alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    passwords.change(alice, NEW)
    assert signs_in("alice", NEW)
    [row] = AccountAction.objects.filter(account=alice)
    assert (row.verb, row.name) == ("changed the password", "alice")
    link = link_of("alice")

    def full(*given: Any) -> None:
        raise OSError("No space is left.")

    monkeypatch.setattr(passwords, "record_account", full)
    with pytest.raises(OSError, match="No space"):
        set_password(link, "yet another river")
    assert signs_in("alice", NEW) and not signs_in("alice", "yet another river")


def test_where_letters_are_sent_the_link_is_not_printed(mailing: None) -> None:
    said = run("create_lead", "nora", "--email", "nora@example.org")
    assert said == "nora: a link to set the password was sent to nora@example.org.\n"
    assert set_password(LINK.search(mail.outbox[0].body)[1]).status_code == 302  # type: ignore[index]
    assert run("create_lead", "olga").startswith(configured.PUBLIC_URL)


def test_a_link_is_good_once_ends_and_cannot_be_changed(alice: Any, settings: Any) -> None:
    link = link_of("alice")
    head, token = link.rstrip("/").rsplit("/", 1)
    make.user("bob")
    of_bob = link_of("bob").rstrip("/").rsplit("/", 1)[0]
    for wrong in (f"{head}/{token[:-1]}/", f"{of_bob}/{token}/", f"{head}zz/{token}/"):
        assert Client().get(wrong, follow=True).status_code == 404
    assert set_password(link).status_code == 302
    assert set_password(link).status_code == 404
    late = link_of("alice")
    settings.PASSWORD_RESET_TIMEOUT = -1
    assert set_password(late).status_code == 404
    assert signs_in("alice", NEW)


def test_a_password_set_by_a_link_ends_sessions_and_tokens(lead_client: Client, alice: Any) -> None:
    lead_client.get(reverse("projects"))
    program = signed_in(alice)
    set_password(link_of("alice"))
    assert lead_client.get(reverse("projects")).status_code == 302
    assert program.get("/api/projects/").status_code == 401
    assert not ApiToken.objects.exists() and not LeadSession.objects.exists()


def test_a_forgotten_password_is_set_by_a_letter(alice: Any, mailing: None) -> None:
    alice.email = "Alice@example.org"
    alice.save()
    reply = ask("alice@EXAMPLE.org")
    assert mail.outbox[0].to == ["Alice@example.org"] and "alice" in mail.outbox[0].body
    assert "on its way" in Client().get(reply.headers["Location"]).text
    set_password(LINK.search(mail.outbox[0].body)[1])  # type: ignore[index]
    assert signs_in("alice", NEW)


def test_nobody_learns_who_has_an_account(alice: Any, mailing: None) -> None:
    alice.email = "alice@example.org"
    alice.save()
    answers = [ask(email) for email in ("alice@example.org", "nobody@example.org")]
    assert len({(answer.status_code, answer.headers["Location"], answer.text) for answer in answers}) == 1
    assert len(mail.outbox) == 1
    for email in ("alice@example.org", "nobody@example.org"):
        statuses = [ask(email, place=f"198.51.100.{n}").status_code for n in range(patience.LETTER.free)]
        assert statuses == [302] * (patience.LETTER.free - 1) + [429]


def test_closed_accounts_and_other_addresses_get_no_letter(alice: Any, mailing: None) -> None:
    alice.email, alice.is_active = "alice@example.org", False
    alice.save()
    make.user("bob")
    ask("alice@example.org")
    assert ask("").status_code == 400
    assert mail.outbox == []


def test_an_address_that_mail_cannot_spell_is_told_as_not_sent(alice: Any, mailing: None) -> None:
    # 63 characters are a valid label, and have no spelling in ASCII that is short enough.
    alice.email = f"alice@{'ü' * 63}.org"
    assert not passwords.send(alice)
    row = Invitation(email=alice.email, role="reader", project=Project(name="P"), expires_at=timezone.now())
    assert not invitations.send(row, "https://annotate.example/invitation")


def test_letters_asked_for_from_one_place_are_bounded(mailing: None) -> None:
    statuses = [ask(f"x{n}@example.org").status_code for n in range(patience.LETTERS_FROM_ADDRESS.free + 1)]
    assert statuses[-1] == 429


def test_without_a_mail_server_the_page_says_whom_to_ask() -> None:
    assert "sends no e-mail" in Client().get(reverse("forgot-password")).text
    assert "sends no e-mail" in ask("alice@example.org").text
