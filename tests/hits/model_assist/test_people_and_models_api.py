"""Models of a project and what they decide, in the API of leads."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from hits.models import Item, ModelAnnotator, Project, Routing, Stage
from tests.hits import factories as make
from tests.hits import models_that_answer as asked
from tests.hits.api_calls import HOME, logged

STAGE = f"{HOME}stages/ask/"


@pytest.fixture
def stage(river: Any) -> Stage:
    return asked.stage(river)


@pytest.fixture
def model(stage: Stage) -> ModelAnnotator:
    return asked.model(stage.project)


def test_a_model_is_registered_listed_and_ended(api: APIClient, stage: Stage) -> None:
    answer = api.post(
        f"{HOME}models/", {"name": "small-bert", "version": "2", "cost_per_answer": "0.0004"}, format="json"
    )
    made = answer.json()
    assert (answer.status_code, made["cost_per_answer"], made["created_by"]) == (201, "0.0004", "alice")
    client = APIClient(headers={"Authorization": f"Model {made['token']}"})
    assert client.get("/api/model/").json()["model"]["id"] == made["id"]
    (row,) = api.get(f"{HOME}models/").json()["results"]
    assert "token" not in row and row["last_used_at"] and row["ended_at"] is None
    assert api.post(f"{HOME}models/{made['id']}/end/").json()["ended_at"]
    assert client.get("/api/model/").status_code == 401
    again = api.post(f"{HOME}models/{made['id']}/end/")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "model_ended")
    assert logged(stage.project) == ["registered a model", "ended a model"]


def test_items_that_a_model_was_given_too_often_are_given_again(
    api: APIClient, stage: Stage, model: ModelAnnotator
) -> None:
    asked.items(stage, 3)
    asked.given_too_often(model, stage)
    address = f"{HOME}models/{model.pk}/give-again/"
    assert [api.post(address).json() for _ in range(2)] == [{"items": 3}, {"items": 0}]
    assert api.post(f"{HOME}models/{asked.model(make.project()).pk}/give-again/").status_code == 404
    Project.objects.update(archived_at=timezone.now())
    assert api.post(address).json()["error"]["code"] == "archived"


def test_models_are_previewed_let_decide_measured_and_undone(
    api: APIClient, stage: Stage, model: ModelAnnotator, eager: None
) -> None:
    for row in asked.items(stage, 10):
        asked.says(model, row, "yes")
    condition = {"models": [model.pk], "least": 1, "audit_share": 0.2}
    preview = api.post(f"{STAGE}routings/preview/", condition, format="json").json()
    assert preview == {
        "waiting": 10, "answered": 10, "decided": 8, "audited": 2, "to_people": 2, "saved": "1.20",
        "expected_error": pytest.approx(0.05),
    }  # fmt: skip
    wrong = api.post(f"{STAGE}routings/", {**condition, "decided": 8, "saved": "1.00"}, format="json")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (409, "routing_changed")
    made = api.post(f"{STAGE}routings/", {**condition, "decided": 8, "saved": "1.20"}, format="json")
    assert (made.status_code, made.json()["models"], made.json()["saved"]) == (201, [model.pk], "1.20")
    told = api.get(f"{STAGE}people-and-models/").json()
    assert (told["decided_by_models"], told["audit"]["waiting"], told["audit"]["estimate"]) == (8, 2, None)
    assert told["is_deciding"] is False and api.get(STAGE).json()["figures"]["decided_by_models"] == 8
    assert [line["name"] for line in told["lines"]] == ["People", "small-bert 1"]
    kept = api.get(f"{STAGE}items/?state=kept").json()["results"]
    assert {one["verdict"]["routing"] for one in kept} == {made.json()["id"]}
    assert [row["id"] for row in api.get(f"{STAGE}routings/").json()["results"]] == [made.json()["id"]]
    assert api.post(f"{STAGE}routings/{made.json()['id']}/undo/").json() == {"returned": 8, "used": 0}
    again = api.post(f"{STAGE}routings/{made.json()['id']}/undo/")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "routing_used")
    assert Item.objects.filter(state="new").count() == 10


def test_rows_of_others_are_not_there(api: APIClient, stage: Stage) -> None:
    theirs = asked.stage(make.project())
    assert api.post(f"{HOME}models/{asked.model(theirs.project).pk}/end/").status_code == 404
    assert api.post(f"{STAGE}routings/{make.routing(theirs).pk}/undo/").status_code == 404
    elsewhere = make.routing(asked.stage(stage.project, key="elsewhere"))
    assert api.post(f"{STAGE}routings/{elsewhere.pk}/undo/").status_code == 404
    assert not Routing.objects.exclude(undone_at=None).exists()
