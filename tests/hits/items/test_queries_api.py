"""Queries of articles by a program: read, corrected, annotated from outside, made again, drawn."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from hits.judging.verbs import computing
from hits.models import Stage
from tests.hits.api.test_errors import refused
from tests.hits.items.record_articles import article_project, generate


@pytest.fixture
def stage(alice: Any) -> Stage:
    return generate(article_project(alice, "clock-tower", "night-train"))


@pytest.fixture
def home(stage: Stage) -> str:
    return f"/api/projects/{stage.project.slug}/stages/generate/"


def test_articles_are_listed_with_figures_and_read_with_their_queries(api: APIClient, stage: Stage, home: str) -> None:
    rows = api.get(home + "articles/").json()["results"]
    assert [row["key"] for row in rows] == ["clock-tower", "night-train"]
    assert rows[0]["figures"]["queries"] == 5 and not rows[0]["corrected"] and not rows[0]["sent"]
    one = api.get(f"{home}articles/{rows[0]['id']}/").json()
    assert len(one["queries"]) == 5 and "Bergen" in one["text"]
    assert {tuple(query) for query in one["queries"]} == {("id", "query", "entity", "answers", "removed")}


def test_a_query_is_dropped_and_comes_back_by_undo(api: APIClient, stage: Stage, home: str) -> None:
    address = f"{home}articles/{stage.items.first().pk}/"
    one = api.get(address).json()
    body = {"fingerprint": one["fingerprint"], "query": one["queries"][0]["id"]}
    done = api.post(address + "drop-query/", body, format="json").json()
    assert done["removed"] == [body["query"]] and done["corrected"]
    refused(api.post(address + "drop-query/", body, format="json"), 409, "item_changed")
    wrong = {"fingerprint": done["fingerprint"], "query": "s77-e0"}
    refused(api.post(address + "drop-query/", wrong, format="json"), 400, "targets_refused")
    assert api.post(address + "undo/").json() == one
    refused(api.post(address + "undo/"), 409, "nothing_to_undo")


def test_annotations_of_an_article_are_replaced_or_refused_with_their_places(
    api: APIClient, stage: Stage, home: str
) -> None:
    address = f"{home}articles/{stage.items.first().pk}/"
    one = api.get(address).json()
    body = {name: one[name] for name in ("fingerprint", "mentions", "removed")}
    body["sentences"] = [{"mentions": []} for _ in one["sentences"]]
    done = api.put(address, body, format="json").json()
    assert done["queries"] == [] and done["figures"]["no_entity"] > one["figures"]["no_entity"]
    wrong = {**body, "fingerprint": done["fingerprint"], "mentions": [{"start": 5, "end": 1}], "sentences": []}
    error = refused(api.put(address, wrong, format="json"), 400, "targets_refused")
    assert error["details"]["places"] == ["mentions[0]", "sentences"]


def test_a_file_of_annotations_is_shown_confirmed_and_undone(api: APIClient, stage: Stage, home: str) -> None:
    lines = b"".join(api.get(home + "annotations/").streaming_content).splitlines()
    rows = [{**json.loads(line), "mentions": [], "sentences": None} for line in lines]
    for row, line in zip(rows, lines, strict=True):
        row["sentences"] = [{**one, "mentions": []} for one in json.loads(line)["sentences"]]
    file = SimpleUploadedFile("corrected.jsonl", "\n".join(map(json.dumps, rows)).encode())
    shown = api.post(home + "annotations/", {"file": file}, format="multipart")
    assert shown.status_code == 201 and shown.json()["effect"]["after"]["queries"] == 0
    address = f"{home}change-sets/{shown.json()['id']}/"
    assert api.post(address + "confirm/").json()["state"] == "done"
    assert api.get(home).json()["figures"]["made"]["queries"] == 0
    assert api.post(address + "undo/").json()["state"] == "undone"
    assert api.get(home).json()["figures"]["made"]["queries"] == 10
    assert api.get(home + "change-sets/").json()["results"] == [api.get(address).json()]
    broken = SimpleUploadedFile("corrected.jsonl", b"{}\n7\n")
    refused(api.post(home + "annotations/", {"file": broken}, format="multipart"), 400, "file_refused")


def test_queries_are_made_again_by_way_of_a_run(api: APIClient, stage: Stage, home: str) -> None:
    refused(api.post(home + "generate-again/"), 409, "nothing_to_change")
    stage.project.options = {**stage.project.options, "sentence_tokens": 30}
    stage.project.save()
    run = computing.start(stage.project, "generate-again", {}, None)
    computing.run(run.pk)
    shown = api.post(home + "generate-again/").json()
    assert shown["effect"]["items"] == 2
    assert api.post(f"{home}change-sets/{shown['id']}/confirm/").json()["state"] == "done"
    assert api.get(home).json()["figures"]["made"]["short"] == shown["effect"]["after"]["short"]


def test_the_quote_of_a_draw_says_what_a_reader_answered(api: APIClient, stage: Stage) -> None:
    address = f"/api/projects/{stage.project.slug}/stages/validate/draw/"
    found = api.get(address).json()
    assert (found["there"], found["told"]["queries"], found["told"]["readers"]) == (10, 10, [])
    assert api.post(address, {"items": 4}, format="json").json()["items"] == 4
    (row,) = [one for one in api.get(address.replace("validate/draw", "generate/articles")).json()["results"][:1]]
    article = f"/api/projects/{stage.project.slug}/stages/generate/articles/{row['id']}/"
    if row["sent"]:
        body = {"fingerprint": api.get(article).json()["fingerprint"], "query": "s1-e3"}
        refused(api.post(article + "drop-query/", body, format="json"), 409, "article_sent")


def test_a_stage_of_another_kind_has_none(api: APIClient, stage: Stage) -> None:
    refused(api.get(f"/api/projects/{stage.project.slug}/stages/validate/articles/"), 404, "no_annotations")
