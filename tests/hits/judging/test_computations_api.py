"""Computations, draws and options over the API."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from hits.models import ComputationRun, Project
from tests.hits import factories
from tests.hits.api.test_errors import refused
from tests.hits.api_calls import logged
from tests.hits.small_recipe import small_project, small_recipe

__all__ = ["small_recipe"]
HOME = "/api/projects/small/"
RUNS = HOME + "computation-runs/"
DRAW = HOME + "stages/sample/draw/"


@pytest.fixture
def project(small_recipe: str, alice: Any) -> Project:
    return small_project(alice)


def test_a_computation_is_started_and_its_results_are_read(api: APIClient, project: Project, eager: None) -> None:
    words, *statistics = api.get(HOME + "computations/").json()
    assert [each["key"] for each in statistics] == ["judge-agreement", "sample-agreement"]
    assert (words["key"], words["stage"], words["params"]["times"]) == ("words", "judge", 1)
    started = api.post(RUNS, {"computation": "words", "params": {"times": 2}}, format="json")
    assert (started.status_code, started.json()["created_by"]) == (202, "alice")
    run = api.get(f"{RUNS}{started.json()['id']}/").json()
    assert (run["state"], run["done"], run["items"], len(run["log"])) == ("done", 3, 3, 3)
    results = api.get(f"{RUNS}{run['id']}/results/").json()["results"]
    assert [row["data"]["words"] for row in results] == [10, 10, 10]
    assert [row["id"] for row in api.get(RUNS).json()["results"]] == [run["id"]]


def test_what_cannot_be_computed_is_refused_with_every_reason(api: APIClient, project: Project) -> None:
    answer = api.post(RUNS, {"computation": "words", "params": {"times": "x", "speed": 1}}, format="json")
    refused(answer, 409, "computation_refused")
    assert "speed" in answer.json()["error"]["message"] and "times" in answer.json()["error"]["message"]
    refused(api.post(RUNS, {"computation": "nothing"}, format="json"), 409, "computation_refused")
    assert not ComputationRun.objects.exists()


def test_a_run_is_stopped(api: APIClient, project: Project) -> None:
    run = factories.computation_run(project, state=ComputationRun.State.RUNNING)
    for _ in range(2):
        assert api.post(f"{RUNS}{run.pk}/stop/").json()["state"] == "stopped"
    assert logged(project) == ["stopped a computation"]
    other = factories.computation_run(state=ComputationRun.State.RUNNING)
    refused(api.post(f"{RUNS}{other.pk}/stop/"), 404, "not_found")


def test_a_stopped_run_goes_on_and_no_other(api: APIClient, project: Project, eager: None) -> None:
    params = {"times": 1, "crash_at": -1, "fail_at": -1, "stop_at": -1, "model": "plain"}
    run = factories.computation_run(project, state=ComputationRun.State.STOPPED, params=params, log=[])
    answer = api.post(f"{RUNS}{run.pk}/resume/")
    assert (answer.status_code, answer.json()["state"]) == (202, "done")
    refused(api.post(f"{RUNS}{run.pk}/resume/"), 409, "computation_refused")


def test_a_model_elsewhere_takes_part_by_files(api: APIClient, project: Project, eager: None) -> None:
    words, *statistics = api.get(HOME + "computations/").json()
    assert [each["key"] for each in statistics] == ["judge-agreement", "sample-agreement"]
    assert words["has_files"] and list(words["options"]["model"]["choices"]) == ["plain", "stems"]
    answer = api.get(HOME + "computations/words/files/", {"params": '{"times": 2}'})
    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
    assert archive.namelist() == ["0.json", "1.json", "2.json"]
    keys = project.stages.get(key="judge").items.values_list("key", flat=True)
    answers = HOME + "computations/words/answers/"
    content = SimpleUploadedFile("out.json", json.dumps(dict.fromkeys(keys, 8)).encode())
    sent = api.post(answers, {"file": content, "params": '{"times": 2}'})
    assert (sent.status_code, sent.json()["state"], sent.json()["items"]) == (202, "done", 3)
    assert (sent.json()["params"]["model"], sent.json()["params"]["times"]) == ("imported", 2)
    wrong = api.post(answers, {"file": SimpleUploadedFile("out.json", b'{"x": 1}')}).json()
    assert wrong["state"] == "failed" and "nothing was imported" in wrong["error"]


def test_wrong_parameters_of_files_are_refused(api: APIClient, project: Project) -> None:
    files = HOME + "computations/words/files/"
    for params, code, word in [("[1]", 400, "invalid"), ("{", 400, "invalid"), ('{"times": 0}', 409, None)]:
        refused(api.get(files, {"params": params}), code, word or "computation_refused")
    refused(api.get(HOME + "computations/nothing/files/"), 409, "computation_refused")
    refused(api.get(files, {"other": 1}), 400, "invalid")


@pytest.mark.parametrize(
    "params", ["[" * 20_000 + "]" * 20_000, '{"times": 1e999}', '{"model": "\\u0000"}', '{"model": "\\ud800"}']
)
def test_parameters_that_nothing_could_keep_are_refused(api: APIClient, project: Project, params: str) -> None:
    refused(api.get(HOME + "computations/words/files/", {"params": params}), 400, "invalid")
    file = SimpleUploadedFile("out.json", b"{}")
    refused(api.post(HOME + "computations/words/answers/", {"file": file, "params": params}), 400, "invalid")
    body = f'{{"computation": "words", "params": {params}}}'
    assert api.post(RUNS, body, content_type="application/json").status_code == 400
    options = f'{{"options": {params}}}'
    assert api.patch(HOME + "options/", options, content_type="application/json").status_code == 400
    assert not ComputationRun.objects.exists()


def test_a_draw_is_quoted_and_made(api: APIClient, project: Project) -> None:
    assert api.get(DRAW).json() == {"there": 2, "here": 0, "new": 2, "told": {}, "problems": []}
    drawn = api.post(DRAW, {"items": 1}, format="json")
    assert (drawn.status_code, drawn.json()["items"]) == (200, 1)
    assert len(api.get(drawn.json()["see"]).json()["results"]) == 1
    assert api.get(DRAW).json()["new"] == 1
    assert "not by a sample" in api.get(HOME + "stages/judge/draw/").json()["problems"][0]
    refused(api.post(HOME + "stages/judge/draw/", {"items": 1}, format="json"), 409, "draw_refused")


def test_options_are_changed_all_or_none(api: APIClient, project: Project) -> None:
    changed = api.patch(HOME + "options/", {"options": {"best_written": 9}}, format="json")
    assert changed.json()["options"] == {"best_written": 9, "best_kept_share": 0.5}
    assert changed.json()["described"]["best_written"]["paper"] == "20 (section 2)"
    wrong = {"options": {"best_written": "x", "best_kept_share": 2.0, "other": 1, "best_share": 1}}
    answer = api.patch(HOME + "options/", wrong, format="json")
    refused(answer, 400, "option_refused")
    assert all(name in answer.json()["error"]["message"] for name in wrong["options"])
    assert api.get(HOME + "options/").json() == changed.json()
