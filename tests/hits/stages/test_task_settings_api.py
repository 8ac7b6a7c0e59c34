"""The task of a stage over the API."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from hits.models import Project, Stage
from hits.protocols.labelling.protocol import protocol
from tests.hits import factories

TASK = "/api/projects/river/stages/label/task/"


@pytest.fixture
def labelling(river: Project) -> Stage:
    return factories.stage(river, key="label", protocol="labelling", settings=protocol.settings({}))


def test_it_is_read_with_a_description_of_what_can_be_written(api: APIClient, labelling: Stage) -> None:
    found = api.get(TASK).json()
    assert (found["protocol"], found["frozen"]) == ("labelling", False)
    assert found["settings"] == protocol.settings({})
    assert {one["name"] for one in found["form"]} == set(found["settings"])
    options = {one["name"]: one["options"] for one in found["form"]}
    assert options["early_submit"] == ["notice", "hold"]


def test_settings_that_are_not_sent_stay_as_they_are(api: APIClient, labelling: Stage) -> None:
    api.patch(TASK, {"settings": {"question": "What kind is it?"}}, format="json")
    found = api.patch(TASK, {"hit_title": "Label", "settings": {"labels": ["Fact", "Cause"]}}, format="json").json()
    assert (found["hit_title"], found["settings"]["question"]) == ("Label", "What kind is it?")
    assert [label["id"] for label in found["settings"]["labels"]] == ["fact", "cause"]


def test_wrong_settings_are_refused_with_every_reason(api: APIClient, labelling: Stage) -> None:
    wrong = {"settings": {"labels": ["One"], "several": "no", "colour": "red"}}
    answer = api.patch(TASK, wrong, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "settings_refused")
    assert len(answer.json()["error"]["details"]["reasons"]) == 3


def test_a_published_task_is_a_conflict(api: APIClient, labelling: Stage) -> None:
    factories.hit(factories.item(labelling))
    answer = api.patch(TASK, {"settings": {"question": "New?"}}, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "task_frozen")
    assert api.get(TASK).json()["frozen"] is True
