"""Every address of the site, every kind of visitor."""

import json
from collections.abc import Callable
from typing import Any

from django.test import Client

from tests.marketplace.security.addresses import ADDRESSES, ANYBODY, OPERATOR, OWNER, WORKER, names_of_all
from tests.marketplace.security.conftest import changed, tables

Visit = Callable[..., Client]
# Who has no business at an address of a kind, and how each is turned away.
TURNED_AWAY = {
    WORKER: {"anybody": "sign in", "operator": "not a worker"},
    OWNER: {"anybody": "sign in", "operator": "not a worker", "another": "nothing there"},
    OPERATOR: {"anybody": "sign in", "owner": "nothing there", "another": "nothing there"},
    ANYBODY: {},
}
RIGHT_ONE = {ANYBODY: "anybody", WORKER: "owner", OWNER: "owner", OPERATOR: "operator"}
# Addresses that take answers from frames of other origins, where no cookie and no token of ours can come along.
WITHOUT_TOKEN = {"site:external_submit"}
SECRETS = ("secret of walter", "secret for walter", "This is wrong", "It is right")


def test_every_address_says_who_may_open_it() -> None:
    assert set(names_of_all()) == ADDRESSES.keys()


def test_whoever_has_no_business_there_is_turned_away(visit: Visit, world: dict[str, Any]) -> None:
    before = tables()
    for name in ADDRESSES:
        check_whoever_has_no_business_there_is_turned_away(visit, world, name)
        assert changed(before) == [], name


def check_whoever_has_no_business_there_is_turned_away(visit: Visit, world: dict[str, Any], name: str) -> None:
    address = ADDRESSES[name]
    path = address.path(name, world)
    for who, outcome in TURNED_AWAY[address.who].items():
        client = visit(who)
        for response in (client.get(path, address.filled(world)), client.post(path, address.filled(world))):
            text = response.content.decode() if not response.streaming else ""
            assert not [secret for secret in SECRETS if secret in text]
            if response.status_code == 405 or response.headers["Content-Type"].startswith("application/x-amz-json"):
                continue
            if outcome == "sign in":
                assert response.status_code == 302, f"{who} {path}"
                assert response.headers["Location"].startswith("/accounts/login/")
            elif outcome == "nothing there":
                assert response.status_code == 404, f"{who} {path}"
            else:
                assert response.status_code in (302, 403), f"{who} {path}"
                assert response.headers.get("Location", "/operator/") == "/operator/"


def test_the_right_one_gets_an_answer_and_a_get_changes_nothing(visit: Visit, world: dict[str, Any]) -> None:
    before = tables()
    for name in ADDRESSES:
        check_the_right_one_gets_an_answer_and_a_get_changes_nothing(visit, world, name)
        assert changed(before) == [], name


def check_the_right_one_gets_an_answer_and_a_get_changes_nothing(
    visit: Visit, world: dict[str, Any], name: str
) -> None:
    address = ADDRESSES[name]
    client = visit(RIGHT_ONE[address.who])
    response = client.get(address.path(name, world), address.filled(world))
    # Walter has signed in since his password's link was made, which ended it.
    # Answers are taken by GET too, and this one names no assignment.
    refused = {"site:reset_password": 410, "site:external_submit": 404}.get(name, 200)
    assert response.status_code in (200, 302, 405, refused), f"{name} {response.status_code}"
    assert not response.headers.get("Location", "").startswith("/accounts/login/")
    if response.streaming:
        b"".join(response.streaming_content)
    client.head(address.path(name, world), address.filled(world))


def test_a_form_without_its_token_is_refused(visit: Visit, world: dict[str, Any]) -> None:
    before = tables()
    for name in ADDRESSES:
        check_a_form_without_its_token_is_refused(visit, world, name)
        assert changed(before) == [], name


def check_a_form_without_its_token_is_refused(visit: Visit, world: dict[str, Any], name: str) -> None:
    address = ADDRESSES[name]
    client = visit(RIGHT_ONE[address.who], enforce_csrf_checks=True)
    response = client.post(address.path(name, world), address.filled(world))
    if name in WITHOUT_TOKEN:
        assert response.status_code != 403
    elif name == "site:home":
        assert json.loads(response.content)["__type"] == "UnknownOperationException", "POST / is the requesters' API"
    else:
        assert response.status_code in (403, 405)


def test_every_answer_carries_the_headers_that_protect_it(visit: Visit, world: dict[str, Any]) -> None:
    for name in ADDRESSES:
        check_every_answer_carries_the_headers_that_protect_it(visit, world, name)


def check_every_answer_carries_the_headers_that_protect_it(visit: Visit, world: dict[str, Any], name: str) -> None:
    address = ADDRESSES[name]
    for who in {RIGHT_ONE[address.who], "anybody"}:
        response = visit(who).get(address.path(name, world), address.filled(world))
        policy = directives(response.headers.get("Content-Security-Policy", ""))
        for kind in ("default-src", "script-src", "style-src", "object-src", "base-uri", "form-action"):
            assert not policy[kind] & {"'unsafe-inline'", "'unsafe-eval'", "*", "https:", "http:", "data:"}, kind
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        if name == "site:external_submit":
            # Says in any frame what became of an answer, which may stand in its address.
            assert response.headers["Referrer-Policy"] == "no-referrer"
            assert "<form" not in response.text
            continue
        assert policy["frame-ancestors"] in ({"'none'"}, {"'self'"})
        assert response.headers["Referrer-Policy"] == "strict-origin-when-cross-origin"
        assert response.headers["X-Frame-Options"] in ("DENY", "SAMEORIGIN")
        for cookie in response.cookies.values():
            assert cookie["samesite"] == "Lax"
            assert cookie["httponly"] or cookie.key == "marketplace_csrf"


def directives(policy: str) -> dict[str, set[str]]:
    """A Content-Security-Policy by directive."""
    return {words[0]: set(words[1:]) for part in policy.split(";") if (words := part.split())}
