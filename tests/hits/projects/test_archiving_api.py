"""An archived project by the API: every route that changes something answers 409, until an owner restores it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from rest_framework.test import APIClient

from hits.core.roles import route_verb
from hits.models import Project, Upload
from tests.hits import factories as make
from tests.hits.api.test_errors import refused
from tests.hits.api.test_guard import OWNED, _everything, address, world
from tests.hits.api_calls import logged

__all__ = ["world"]
pytestmark = pytest.mark.django_db


def test_what_changes_something_is_refused_and_the_rest_is_not(
    world: dict[str, Any], api: APIClient, market: Any
) -> None:
    Project.objects.update(archived_at=timezone.now())
    before, wrong = _everything(), []
    for route, method in OWNED:
        verb = route_verb(str(route.name), method.upper())
        with transaction.atomic():
            answer = getattr(api, method)(address(route, world))
            transaction.set_rollback(True)
        code = answer.json()["error"]["code"] if answer.status_code == 409 else ""
        if (code == "archived") is (verb is not None and verb.while_archived):
            wrong.append((route.name, method, answer.status_code, code))
    assert wrong == []
    assert _everything() == before


def test_a_project_is_archived_found_among_the_archived_and_restored(api: APIClient, alice: Any) -> None:
    project = make.project(slug="old", name="Old", owner=alice)
    made = api.post("/api/projects/old/archive/").json()
    assert made["archived_at"] is not None
    assert api.post("/api/projects/old/archive/").status_code == 409
    assert api.get("/api/projects/").json()["results"] == []
    found = api.get("/api/projects/", {"state": "archived"}).json()["results"]
    assert [(row["slug"], row["archived_at"]) for row in found] == [("old", made["archived_at"])]
    assert api.post("/api/projects/old/restore/").json()["archived_at"] is None
    assert [row.verb for row in project.actions.order_by("id")] == ["archived the project", "restored the project"]


def test_what_is_not_finished_is_named(api: APIClient, alice: Any) -> None:
    project = make.project(slug="old", owner=alice)
    hit = make.hit(make.item(make.stage(project)))
    make.upload(project, state=Upload.State.QUEUED)
    error = refused(api.post("/api/projects/old/archive/"), 409, "unfinished")
    assert [reason.split(" ", 2)[:2] for reason in error["details"]["reasons"]] == [["1", "HIT"], ["1", "import"]]
    assert hit.stage.project.archived_at is None


def test_tags_are_replaced_as_a_whole(api: APIClient, alice: Any) -> None:
    project = make.project(slug="old", owner=alice)
    assert api.put("/api/projects/old/tags/", {"tags": ["Thesis", "pilot", "pilot"]}, format="json").json()["tags"] == [
        "pilot",
        "thesis",
    ]
    refused(api.put("/api/projects/old/tags/", {"tags": ["x" * 31]}, format="json"), 400, "invalid")
    refused(api.put("/api/projects/old/tags/", {"tags": ["a b c d e f g h i j k"]}, format="json"), 400, "tags")
    assert api.get("/api/projects/old/").json()["tags"] == ["pilot", "thesis"]
    assert api.put("/api/projects/old/tags/", {"tags": []}, format="json").json()["tags"] == []
    assert logged(project) == ["changed the tags"] * 2
