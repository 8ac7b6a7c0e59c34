"""Releases over the API: preview, making, files."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from hits.models import Item, Project, Release, Stage, StageSummary
from hits.releases.api import releases as view
from tests.hits import factories
from tests.hits.api.test_errors import refused
from tests.hits.api_calls import HOME

RELEASES = HOME + "releases/"


@pytest.fixture
def kept(river_stage: Stage) -> list[Item]:
    """Three training items that came through."""
    return [factories.item(river_stage, state=Item.State.KEPT, data=_data(number)) for number in range(3)]


def _data(number: int) -> dict[str, object]:
    answers = [{"start": 42, "end": 47, "text": "Linden"}]
    return {"query": "A boat lands in @placeholder.", "answers": answers, "key": f"q-{number}", "key_field": "id"}


def test_the_preview_counts_and_makes_nothing(api: APIClient, kept: list[Item]) -> None:
    preview = api.get(HOME + "release-preview/").json()
    assert preview["counts"]["train"] == 3
    assert set(preview) == {
        "why_empty", "counts", "left_out", "statistics", "notes", "scores", "collection", "aggregated",
        "licence", "citation", "description", "worker_terms",
    }  # fmt: skip
    assert not Release.objects.exists()


def test_the_same_content_is_the_same_release(api: APIClient, kept: list[Item]) -> None:
    first, second = api.post(RELEASES), api.post(RELEASES)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()
    assert [row["number"] for row in api.get(RELEASES).json()["results"]] == [1]


def test_files_come_with_their_checksum(api: APIClient, kept: list[Item]) -> None:
    made = api.post(RELEASES).json()
    assert api.get(f"{RELEASES}1/").json() == made
    for file in made["files"]:
        answer = api.get(file["url"])
        content = b"".join(answer.streaming_content)
        assert answer["X-Content-SHA256"] == file["sha256"] == hashlib.sha256(content).hexdigest()
        assert answer["Content-Disposition"] == f'attachment; filename="{file["name"]}"'
        assert int(answer["Content-Length"]) == file["bytes"] == len(content)
    manifest = next(file for file in made["files"] if file["name"] == "manifest.json")
    content = b"".join(api.get(manifest["url"]).streaming_content)
    assert json.loads(content) == made["manifest"]
    key = next(file for file in made["files"] if file["name"].startswith("test-key"))
    secret = Project.objects.get().pseudonym_key.encode()
    answers = b"".join(api.get(key["url"]).streaming_content)
    assert hashlib.sha256(content + secret + answers).hexdigest() == made["digest"]


def test_a_large_file_is_streamed_in_chunks(api: APIClient, river_stage: Stage) -> None:
    factories.release(river_stage.project, files={"train.json": b"x" * (3 << 20)})
    assert len(list(api.get(f"{RELEASES}1/files/train.json/").streaming_content)) == 3


def test_nothing_to_release_is_said(api: APIClient, river_stage: Stage) -> None:
    why = "There is nothing to release: no item is here. Import a file and publish its items."
    assert refused(api.post(RELEASES), 409, "nothing_to_release")["message"] == why
    assert api.get(HOME + "release-preview/").json()["why_empty"] == why
    refused(api.get(f"{RELEASES}1/"), 404, "not_found")
    refused(api.get(f"{RELEASES}1/files/train.json/"), 404, "not_found")


def test_a_large_release_is_made_in_the_background(
    api: APIClient, kept: list[Item], eager: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "SMALL", 2)
    StageSummary.objects.update(kept=3)
    answer = api.post(RELEASES)
    assert answer.status_code == 202
    assert [row["number"] for row in api.get(answer.json()["see"]).json()["results"]] == [1]


KEY = {
    "version": "1.0",
    "data": [
        {
            "id": "d1", "source": "Ours", "passage": {"text": "Ada met Bo.", "entities": [{"start": 0, "end": 2}]},
            "qas": [{"id": "q1", "query": "@placeholder left.", "answers": [{"start": 0, "end": 2, "text": "Ada"}]}],
        }
    ],
}  # fmt: skip


def predictions(said: object) -> dict[str, object]:
    return {"predictions": SimpleUploadedFile("said.json", json.dumps(said).encode())}


def test_predictions_are_scored_against_the_key_of_a_release(api: APIClient, river_stage: Stage) -> None:
    factories.release(river_stage.project, files={"test-key.json": json.dumps(KEY).encode(), "train.json": b"{}"})
    answer = api.post(f"{RELEASES}1/evaluate/", predictions({"q1": "the ada"}), format="multipart")
    told = answer.json()
    scores = [(one["measure"], one["value"], round(one["low"], 3), one["high"]) for one in told.pop("scores")]
    assert scores == [("exact_match", 1, 0.207, 1), ("f1", 1, 0.207, 1)]
    assert told == {
        "release": 1, "file": "test-key.json", "n": 1, "exact_match": 100.0, "f1": 100.0, "differences": [],
    }  # fmt: skip
    refused(api.post(f"{RELEASES}1/evaluate/", predictions({"q2": "Ada"}), format="multipart"), 400, "file_refused")


def test_a_system_is_kept_with_the_release_by_its_name(api: APIClient, river_stage: Stage) -> None:
    factories.release(river_stage.project, files={"test-key.json": json.dumps(KEY).encode(), "train.json": b"{}"})
    for said, name in (("the ada", "Good"), ("Bo", "Bad"), ("Ada", "Good")):
        given = predictions({"q1": said}) | {"name": name}
        told = api.post(f"{RELEASES}1/systems/", given, format="multipart").json()
    assert told["differences"] == [{"name": "Bad", "difference": 1.0, "p": 1.0}]
    systems = api.get(f"{RELEASES}1/").json()["systems"]
    assert [(one["name"], one["kind"], one["scores"][0]["value"]) for one in systems] == [
        ("Good", "predictions", 1.0),
        ("Bad", "predictions", 0.0),
    ]
    refused(api.post(f"{RELEASES}1/systems/", predictions({"q1": "Ada"}), format="multipart"), 400, "invalid")


def test_baselines_are_refused_where_nothing_is_compared_with(api: APIClient, river_stage: Stage) -> None:
    factories.release(river_stage.project)
    Project.objects.filter(pk=river_stage.project_id).update(recipe="form")
    refused(api.post(f"{RELEASES}1/baselines/"), 409, "nothing_to_compare")


def test_baselines_draw_by_the_seed_that_is_named_or_the_project_s(
    api: APIClient, river_stage: Stage, eager: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hits.releases.verbs.evaluating.refuse_without_key", lambda release: None)
    seeds: list[int | None] = []
    monkeypatch.setattr(
        "hits.releases.verbs.evaluating.baselines", lambda release, user, seed: seeds.append(seed) or []
    )
    factories.release(river_stage.project)
    for body in ({}, {"seed": 7}):
        assert api.post(f"{RELEASES}1/baselines/", body, format="json").status_code == 202
    refused(api.post(f"{RELEASES}1/baselines/", {"seed": -1}, format="json"), 400, "invalid")
    assert seeds == [None, 7]


def test_a_release_without_that_key_says_which_files_it_has(api: APIClient, river_stage: Stage) -> None:
    factories.release(river_stage.project, files={"train.json": b"{}"})
    answer = api.post(f"{RELEASES}1/evaluate/", predictions({}), format="multipart")
    refused(answer, 409, "nothing_to_compare")
    assert "It has train.json" in answer.content.decode()


def test_a_release_is_withdrawn_with_its_reason_and_successor(api: APIClient, river_stage: Stage) -> None:
    for _ in range(2):
        factories.release(river_stage.project)
    address = f"{RELEASES}1/withdraw/"
    refused(api.post(address, {"reason": "It leaked", "successor": 3}, format="json"), 400, "withdrawal_refused")
    found = api.post(address, {"reason": "It leaked", "successor": 2}, format="json").json()
    assert (found["withdrawn_reason"], found["successor"], len(found["files"])) == ("It leaked", 2, 1)
    standing = [row["number"] for row in api.get(RELEASES).json()["results"] if row["withdrawn_at"] is None]
    assert standing == [2]


def test_an_archive_has_the_answers_of_test_beside_the_folder_or_nowhere(api: APIClient, kept: list[Item]) -> None:
    files = {file["name"]: file["is_key"] for file in api.post(RELEASES).json()["files"]}
    slug = Project.objects.get().slug
    folder = {f"{slug}-1/{name}" for name, is_key in files.items() if not is_key}
    for query, beside in (("", {f"{slug}-1-test-key.json"}), ("?without_keys=true", set())):
        content = b"".join(api.get(f"{RELEASES}1/archive/{query}").streaming_content)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert set(archive.namelist()) == folder | beside
            listed = json.loads(archive.read(f"{slug}-1/manifest.json"))["files"]
    assert [file["name"] for file in listed if file.get("beside_the_folder")] == ["test-key.json"]
