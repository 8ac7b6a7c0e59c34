"""Who may call which address, and how."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hits import urls
from tests.hits import factories as make
from tests.hits.market import Marketplace
from tests.hits.world import FREE, PAGES, VERBS, World

pytestmark = pytest.mark.django_db


def test_every_address_of_a_project_is_named_in_these_tests() -> None:
    names = {pattern.name for pattern in [*urls.project_urls, *urls.stage_urls]}
    assert names == {*PAGES, *VERBS}


def replies(world: World, client: Client, names: Iterable[str]) -> dict[str, HttpResponse]:
    """What each address answers: a verb to POST, a page to GET."""
    return {name: (client.post if name in VERBS else client.get)(world.url(name)) for name in names}


def statuses(found: dict[str, HttpResponse]) -> dict[int, list[str]]:
    """The names by status, so that one that differs is told by its name."""
    by_status: dict[int, list[str]] = {}
    for name, reply in found.items():
        by_status.setdefault(reply.status_code, []).append(name)
    return by_status


def test_a_visitor_is_sent_to_sign_in(world: World) -> None:
    found = replies(world, Client(), [*PAGES, *VERBS, *sorted(FREE)])
    assert list(statuses(found)) == [302]
    assert [n for n, reply in found.items() if not reply.headers["Location"].startswith(reverse("login"))] == []


def test_to_an_outsider_the_project_does_not_exist(world: World, charlie: Any) -> None:
    """Nor to a superuser who owns nothing."""
    outsider, root = Client(), Client()
    outsider.force_login(charlie)
    assert list(statuses(replies(world, outsider, [*PAGES, *VERBS]))) == [404]
    for name in ("publish", "expire", "extend", "stage-settings", "block", "undo-block"):
        assert outsider.post(world.url(name)).status_code == 404, name
    root.force_login(make.user("root", is_superuser=True, is_staff=True))
    assert root.get(world.url("stage")).status_code == 404


def test_a_team_member_sees_every_page_and_to_open_it_writes_nothing(
    world: World, bob: Any, market: Marketplace
) -> None:
    member, wrong = Client(), []
    member.force_login(bob)
    for name in PAGES:
        with CaptureQueriesContext(connection) as queries:
            status = member.get(world.url(name)).status_code
        writes = [q["sql"] for q in queries if q["sql"].split()[0] in ("INSERT", "UPDATE", "DELETE")]
        wrong += [(name, status, writes)] if writes or status != 200 else []
    assert wrong == []


def test_a_verb_does_not_answer_to_get(world: World, lead_client: Client) -> None:
    assert list(statuses({name: lead_client.get(world.url(name)) for name in VERBS})) == [405]


def test_a_form_without_its_token_is_refused(world: World, alice: Any) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    reply = strict.post(world.url("pause"))
    assert reply.status_code == 403
    assert b"Nothing was changed" in reply.content


def test_the_address_of_another_projects_rows_is_not_found(world: World, lead_client: Client, alice: Any) -> None:
    other = make.project(owner=alice)
    row = world.upload
    for name, last in (("upload", row.pk), ("undo-block", world.block.pk), ("worker", world.worker.worker_id)):
        assert lead_client.get(reverse(name, args=[other.slug, last])).status_code == 404
    assert lead_client.get(reverse("release", args=[other.slug, world.release.number])).status_code == 404


def test_pages_forbid_inline_scripts_and_styles_and_hold_none(world: World, lead_client: Client) -> None:
    reply = lead_client.get(world.url("stage"))
    assert "default-src 'self'" in reply.headers["Content-Security-Policy"]
    text = reply.content.decode()
    assert "<style" not in text
    assert " style=" not in text
    assert "onclick" not in text


def test_health_answers_without_signing_in_and_without_the_database(lead_client: Client) -> None:
    with CaptureQueriesContext(connection) as queries:
        reply = lead_client.get("/health/", HTTP_HOST="10.0.0.1")
    assert (reply.json(), list(reply.cookies)) == ({"status": "ok"}, [])
    assert len(queries) == 0
    assert lead_client.post("/health/").status_code == 405


def test_an_unknown_address_gives_our_own_page(lead_client: Client) -> None:
    reply = lead_client.get("/no/such/page/")
    assert reply.status_code == 404
    assert b"There is nothing at this address" in reply.content
