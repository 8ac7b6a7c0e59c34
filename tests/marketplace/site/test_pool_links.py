"""The pages behind a pool's link: seen, signed up with, joined by."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from marketplace.models import PoolJoin, PoolLink, Qualification, QualificationType, Requester, Worker
from marketplace.verbs import accounts, qualifications
from tests.marketplace.pool_addresses import signed

FORM = {"username": "nina", "password": "long-enough-7", "email": "", "country": "CA"}


@pytest.fixture(autouse=True)
def strict(settings: Any) -> None:
    """As on a server: signatures are checked, and nobody signs up without an invitation."""
    settings.MARKETPLACE_ACCEPT_ANY_KEY = False
    settings.MARKETPLACE_SIGN_UP = "invitation"


@pytest.fixture
def kind(requester: Requester, now: datetime) -> QualificationType:
    return qualifications.create_type(
        requester, name="Pool students", description="For our people", status="Active", now=now
    )


@pytest.fixture
def query(kind: QualificationType) -> str:
    """Of a link for two people."""
    return signed(kind.qualification_type_id)


def holders(kind: QualificationType) -> set[str]:
    rows = Qualification.objects.filter(type=kind, status="Granted")
    return set(rows.values_list("worker__user__username", flat=True))


def test_a_visitor_sees_who_invites_and_can_sign_up_or_in(query: str) -> None:
    page = Client().get(f"/pool/?{query}")
    assert page.status_code == 200
    assert "Alice invites you" in page.text and "“Pool students”" in page.text
    assert page.headers["Cache-Control"].find("no-store") >= 0
    [sign_up] = re.findall(r'href="(/pool/sign-up/\?[^"]+)"', page.text)
    [sign_in] = re.findall(r'href="(/accounts/login/\?next=[^"]+)"', page.text)
    assert Client().get(sign_up.replace("&amp;", "&")).status_code == 200
    assert Client().get(sign_in).status_code == 200


def test_opening_the_pages_changes_nothing(query: str, client: Client, worker: Worker) -> None:
    for path in ("/pool/", "/pool/sign-up/"):
        for one in (Client(), client):
            one.get(f"{path}?{query}")
            one.head(f"{path}?{query}")
    assert not PoolLink.objects.exists()
    assert not Qualification.objects.exists()
    assert Worker.objects.count() == 1


def test_the_button_lets_the_worker_in_who_is_signed_in(query: str, kind: QualificationType, client: Client) -> None:
    assert "You are signed in as “walter”" in client.get(f"/pool/?{query}").text
    assert client.post(f"/pool/?{query}").headers["Location"] == f"/pool/?{query}"
    assert "You have joined" in client.get(f"/pool/?{query}").text
    assert holders(kind) == {"walter"}
    # A second press, as by somebody who is in a hurry.
    assert client.post(f"/pool/?{query}").status_code == 302
    assert PoolLink.objects.get().used == 1


def test_without_the_form_s_token_nobody_joins(query: str, worker: Worker) -> None:
    strict_client = Client(enforce_csrf_checks=True)
    strict_client.force_login(worker.user)
    assert strict_client.post(f"/pool/?{query}").status_code == 403
    assert not PoolJoin.objects.exists()


def test_who_is_not_signed_in_joins_nothing_by_a_post(query: str, kind: QualificationType) -> None:
    assert Client().post(f"/pool/?{query}").status_code == 200
    assert holders(kind) == set()


@pytest.mark.parametrize("name", ["WorkerId", "workerId", "username"])
def test_a_worker_whom_the_address_or_the_form_names_is_not_let_in(
    name: str, query: str, kind: QualificationType, client: Client, make_worker: Callable[..., Worker]
) -> None:
    other = make_worker("olga")
    assert client.post(f"/pool/?{query}&{name}={other.worker_id}").status_code == 410
    client.post(f"/pool/?{query}", {name: other.worker_id})
    assert holders(kind) == {"walter"}


def test_a_tampered_address_is_no_invitation(query: str, kind: QualificationType, client: Client) -> None:
    for changed in (query.replace("Uses=2", "Uses=200"), query[:-1] + ("0" if query[-1] != "0" else "1"), "", "x=1"):
        for path in ("/pool/", "/pool/sign-up/"):
            page = Client().post(f"{path}?{changed}", FORM)
            assert page.status_code == 410, changed
            assert "no invitation" in page.text
        assert client.post(f"/pool/?{changed}").status_code == 410
    assert holders(kind) == set()
    assert Worker.objects.count() == 1


def test_who_is_new_signs_up_and_joins_where_nobody_else_signs_up(query: str, kind: QualificationType) -> None:
    visitor = Client()
    assert visitor.post("/accounts/signup/", FORM).status_code == 403
    answer = visitor.post(f"/pool/sign-up/?{query}", FORM)
    assert answer.headers["Location"] == f"/pool/?{query}"
    assert "You have joined" in visitor.get(f"/pool/?{query}").text
    assert holders(kind) == {"nina"}


def test_a_link_makes_no_more_accounts_than_it_lets_in(query: str, kind: QualificationType) -> None:
    answers = [Client().post(f"/pool/sign-up/?{query}", FORM | {"username": f"nina-{n}"}) for n in range(4)]
    assert [answer.status_code for answer in answers] == [302, 302, 410, 410]
    assert Worker.objects.count() == 2
    assert holders(kind) == {"nina-0", "nina-1"}
    page = Client().get(f"/pool/?{query}")
    assert (page.status_code, "used already" in page.text) == (410, True)


def test_a_refused_form_uses_nothing_up(query: str, worker: Worker) -> None:
    page = Client().post(f"/pool/sign-up/?{query}", FORM | {"username": "walter"})
    assert (page.status_code, "This name is taken" in page.text) == (400, True)
    assert not PoolLink.objects.exists()


def test_somebody_with_an_account_comes_back_to_the_link_after_signing_in(query: str, worker: Worker) -> None:
    visitor = Client()
    there = visitor.post("/accounts/login/", {"username": "walter", "password": "worker", "next": f"/pool/?{query}"})
    assert there.headers["Location"] == f"/pool/?{query}"
    assert visitor.get(f"/pool/sign-up/?{query}").headers["Location"] == f"/pool/?{query}"


def test_an_operator_is_told_to_sign_out(query: str, kind: QualificationType, db: None) -> None:
    operator: User = accounts.create_operator("root", "operators-password")
    browser = Client()
    browser.force_login(operator)
    assert "cannot take HITs" in browser.get(f"/pool/?{query}").text
    browser.post(f"/pool/?{query}")
    assert holders(kind) == set()


def test_the_requesters_programs_learn_whether_there_are_such_links(client: Client, settings: Any) -> None:
    assert Client().get("/pool/links/").json() == {"pool_links": "on"}
    settings.MARKETPLACE_POOL_LINKS = False
    assert Client().get("/pool/links/").json() == {"pool_links": "off"}
    assert Client().post("/pool/links/").status_code == 405


def test_switched_off_a_link_lets_nobody_in(query: str, kind: QualificationType, client: Client, settings: Any) -> None:
    settings.MARKETPLACE_POOL_LINKS = False
    assert client.post(f"/pool/?{query}").status_code == 410
    assert Client().post(f"/pool/sign-up/?{query}", FORM).status_code == 410
    assert holders(kind) == set()


@pytest.mark.parametrize(("language", "said"), [("de", "lädt Sie ein"), ("es", "le invita")])
def test_the_pages_speak_the_worker_s_language(query: str, language: str, said: str) -> None:
    assert said in Client().get(f"/pool/?{query}", HTTP_ACCEPT_LANGUAGE=language).text
