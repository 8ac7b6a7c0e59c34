"""The agreement of a stage by the API."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from hits.models import Project
from tests.hits import factories as make
from tests.hits.said import computed, say

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(alice: Any) -> Project:
    return make.project(owner=alice, slug="boats")


def test_it_says_what_to_start_and_then_has_the_figures(api: APIClient, project: Project, eager: None) -> None:
    stage = make.stage(project, key="judge", protocol="multiple_choice", summary={"answers": 5})
    say(stage, [{"ann": "yes", "ben": "yes", "cleo": "no"}, {"ann": "no", "ben": "no"}])
    before = api.get("/api/projects/boats/stages/judge/agreement/").json()
    assert before["computation"] == "judge-agreement"
    assert (before["run"], before["since"], before["units"]) == (None, 5, [])
    started = api.post("/api/projects/boats/computation-runs/", {"computation": before["computation"]}, format="json")
    after = api.get("/api/projects/boats/stages/judge/agreement/").json()
    assert after["run"] == started.json()["id"] and (after["answers"], after["since"]) == (5, 0)
    assert after["units"][0]["figures"]["alpha"]["value"] == pytest.approx(1 / 3)
    rows = api.get(f"/api/projects/boats/computation-runs/{after['run']}/results/").json()["results"]
    assert rows[1]["data"]["units"]["choice"] == {"value": "no", "confidence": 1.0, "entropy": 0.0, "answers": 2}


def test_a_method_that_is_none_is_refused(api: APIClient, project: Project) -> None:
    make.stage(project, key="judge", protocol="multiple_choice")
    wrong = {"computation": "judge-agreement", "params": {"method": "guessing"}}
    answer = api.post("/api/projects/boats/computation-runs/", wrong, format="json")
    assert answer.status_code == 409 and "method must be one of majority" in str(answer.json())
    assert not project.computation_runs.exists()


def test_texts_have_no_agreement(api: APIClient, project: Project) -> None:
    make.stage(project, key="story", title="Story", protocol="story")
    answer = api.get("/api/projects/boats/stages/story/agreement/")
    assert answer.status_code == 409 and "not_compared" in str(answer.json())


def test_an_unfinished_run_is_named_and_an_outsider_finds_nothing(api: APIClient, project: Project) -> None:
    stage = make.stage(project, key="judge", protocol="multiple_choice")
    say(stage, [{"ann": "yes", "ben": "yes"}])
    computed(stage)
    waiting = make.computation_run(project, key="judge-agreement", state="queued")
    found = api.get("/api/projects/boats/stages/judge/agreement/").json()
    assert found["going_on"] == waiting.pk and found["run"] != waiting.pk
    make.stage(make.project(slug="others"), key="judge", protocol="multiple_choice")
    assert api.get("/api/projects/others/stages/judge/agreement/").status_code == 404
