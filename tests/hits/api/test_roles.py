"""Each role on each route: what the table of roles allows answers, all else is refused with 403 and changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from rest_framework.test import APIClient

from hits.core import roles
from hits.core.roles import OWNER, RANKS, READER, TABLE, may, route_verb
from hits.models import Project
from tests.hits import factories
from tests.hits.api.test_guard import OWNED, _everything, address, world
from tests.hits.api_calls import signed_in

__all__ = ["world"]


def member(role: str) -> APIClient:
    carl = factories.user("carl")
    factories.member(Project.objects.get(slug="river"), carl, role)
    return signed_in(carl)


def test_the_table_names_every_route_of_a_project_and_no_other() -> None:
    told = {route for verb in TABLE for route in verb.routes}
    assert told == {f"{method.upper()} {route.name}" for route, method in OWNED}


@pytest.mark.parametrize("role", RANKS)
def test_a_role_may_do_in_the_api_what_the_table_says(role: str, world: dict[str, Any], market: Any) -> None:
    client, wrong = member(role), []
    for route, method in OWNED:
        allowed = may(role, route_verb(str(route.name), method.upper()))
        with transaction.atomic():
            answer = getattr(client, method)(address(route, world))
            transaction.set_rollback(True)
        code = answer.json()["error"]["code"] if answer.status_code == 403 else ""
        # Whoever may withdraw requests still may not withdraw another member's.
        expected = "not_yours" if route.name == "withdraw-request" else ""
        if code != (expected if allowed else "role"):
            wrong.append((route.name, method, answer.status_code, code))
    assert wrong == []


def test_what_is_refused_changes_nothing_and_says_who_may(world: dict[str, Any]) -> None:
    client = member(READER)
    before = _everything()
    for route, method in OWNED:
        verb = route_verb(str(route.name), method.upper())
        if not may(READER, verb):
            error = getattr(client, method)(address(route, world)).json()["error"]
            assert (error["code"], error["details"]) == ("role", {"role": "reader", "needed": str(verb.least)})
            assert "You are a reader of River news. Its owner: alice." in error["message"]
    assert _everything() == before


def test_a_route_that_the_table_does_not_name_is_refused_to_an_owner_too(
    world: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(roles._OF_ROUTE, "POST pause")
    answer = member(OWNER).post("/api/projects/river/stages/validate/pause/")
    assert (answer.status_code, answer.json()["error"]["message"][:20]) == (403, "No role may do this.")


def test_a_method_without_a_handler_is_answered_as_before(world: dict[str, Any]) -> None:
    client = member(READER)
    assert client.get("/api/projects/river/stages/validate/pause/").status_code == 405
    assert client.options("/api/projects/river/").status_code == 200


def test_a_token_of_the_widest_scope_does_no_more_than_its_person(world: dict[str, Any]) -> None:
    answer = member("manager").post("/api/projects/river/requests/1/approve/", {}, format="json")
    assert answer.json()["error"]["code"] == "role"


def test_a_role_that_is_taken_away_ends_at_once(world: dict[str, Any]) -> None:
    client = member("manager")
    assert client.get("/api/projects/river/").json()["role"] == "manager"
    Project.objects.get(slug="river").memberships.filter(user__username="carl").delete()
    assert client.get("/api/projects/river/").status_code == 404
