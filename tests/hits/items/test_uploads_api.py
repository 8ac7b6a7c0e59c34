"""Files come in whole or not at all, and are followed by their address."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from hits.items.verbs import importing
from hits.models import Item, Project, Stage, Upload
from hits.projects.verbs.projects import create_project
from tests.hits.api.test_errors import refused
from tests.hits.api_calls import HOME
from tests.hits.formats.test_rows import workbook
from tests.hits.record_project import example, lines

UPLOADS = HOME + "uploads/"


@pytest.fixture(autouse=True)
def first_stage(river_stage: Stage, eager: None) -> Stage:
    return river_stage


def send(api: APIClient, content: bytes, **more: str) -> Any:
    return api.post(UPLOADS, {"file": SimpleUploadedFile("river.jsonl", content), **more}, format="multipart")


def test_a_good_file_becomes_items(api: APIClient, river: Project) -> None:
    answer = send(api, lines([example(n) for n in range(3)]), origin="crawled")
    assert answer.status_code == 202
    row = api.get(f"{UPLOADS}{answer.json()['id']}/").json()
    assert (row["state"], row["items"], row["faults"], row["created_by"]) == ("done", 3, [], "alice")
    assert set(river.documents.values_list("origin", flat=True)) == {"crawled"}


def test_a_wrong_file_comes_back_with_every_fault_and_its_line(api: APIClient) -> None:
    broken = lines([example(0)]) + b"\n{not json}\n" + json.dumps({**example(2), "qas": []}).encode()
    row = send(api, broken).json()
    assert (row["state"], row["items"]) == ("refused", 0)
    assert [fault["line"] for fault in row["faults"]] == [2, 3]
    assert row["fault_count"] == 2
    assert not Item.objects.exists()


def test_a_file_that_is_too_large_is_not_kept(api: APIClient, settings: Any) -> None:
    settings.MAX_IMPORT_BYTES = 100
    refused(send(api, lines([example(0)])), 400, "upload_refused")
    settings.MAX_IMPORT_BYTES = -100_000
    refused(send(api, b"{}"), 400, "upload_refused")
    assert not Upload.objects.exists()


def test_an_empty_file_and_a_form_without_one_are_refused(api: APIClient) -> None:
    assert send(api, b"").status_code == 400
    refused(api.post(UPLOADS, {}, format="multipart"), 400, "invalid")
    refused(send(api, b"{}", origin="stolen"), 400, "invalid")
    refused(api.post(UPLOADS, {"file": "text"}, format="json"), 415, "unsupported_media_type")


def test_the_list_leaves_the_faults_to_the_detail(api: APIClient, river: Project, alice: Any) -> None:
    importing.create_upload(river, "a.jsonl", b"{}", "public", alice)
    row = api.get(UPLOADS).json()["results"][0]
    assert (row["name"], row["state"], row["bytes"]) == ("a.jsonl", "queued", 2)
    assert "faults" not in row


def test_an_import_is_stopped(api: APIClient, river: Project, alice: Any) -> None:
    row = importing.create_upload(river, "a.jsonl", b"{}", "public", alice)
    answer = api.post(f"{UPLOADS}{row.pk}/stop/")
    assert (answer.status_code, answer.json()["state"], answer.json()["error"]) == (200, "stopped", "")
    assert importing.import_upload(row.pk) == 0
    assert api.post(f"{UPLOADS}{row.pk}/stop/").json()["state"] == "stopped"


ROWS = workbook([["doc", "passage", "body", "gold"], ["r1", "Rain fell.", "It rained.", "Yes"]])


@pytest.fixture
def choice(alice: Any) -> Project:
    return create_project("Rain", "choice", Decimal(5), "lab@example.org", alice)


def table(
    api: APIClient, project: Project, route: str = "", content: bytes = ROWS, name: str = "rain.xlsx", **more: str
) -> Any:
    file = SimpleUploadedFile(name, content)
    return api.post(f"/api/projects/{project.slug}/uploads/{route}", {"file": file, **more}, format="multipart")


def test_the_columns_of_a_table_are_shown_and_nothing_is_kept(api: APIClient, choice: Project) -> None:
    seen = table(api, choice, "columns/").json()
    assert (seen["kind"], seen["columns"], seen["count"]) == ("xlsx", ["doc", "passage", "body", "gold"], 1)
    assert seen["rows"] == [
        {"line": 2, "cells": {"doc": "r1", "passage": "Rain fell.", "body": "It rained.", "gold": "Yes"}}
    ]
    assert {field["name"]: field["column"] for field in seen["fields"] if field["column"]} == {"gold": "gold"}
    assert [field["name"] for field in seen["fields"] if field["needed"]] == ["id", "text"]
    assert seen["unused"] == ["doc", "passage", "body"]
    assert not Upload.objects.exists()


def test_a_mapped_table_is_imported_and_what_is_not_mapped_is_kept(api: APIClient, choice: Project) -> None:
    row = table(api, choice, mapping='{"id": "doc", "text": "passage"}').json()
    assert (row["state"], row["items"]) == ("done", 1)
    assert row["mapping"] == {"id": "doc", "text": "passage", "gold": "gold"}
    items = f"/api/projects/{choice.slug}/stages/choose/items/"
    (found,) = api.get(items, {"find": "it rained"}).json()["results"]
    assert api.get(items, {"find": "it snowed"}).json()["results"] == []
    assert api.get(f"{items}{found['id']}/").json()["columns"] == {"body": "It rained."}
    again = table(api, choice, content=workbook([["doc", "passage"], ["r2", "Sun."]])).json()
    assert (again["state"], again["mapping"]) == ("done", None)


def test_a_text_that_is_not_utf_8_is_refused_with_a_guess_and_imported_with_its_encoding(
    api: APIClient, choice: Project
) -> None:
    content = "id,text\nr1,Café “Noël”\n".encode("cp1252")
    for route in ("columns/", ""):
        error = refused(table(api, choice, route, content, "rain.csv"), 400, "encoding_needed")["details"]
        assert error["guess"] == "cp1252" and error["lines"] == [{"line": 2, "text": "r1,Café “Noël”"}]
    refused(table(api, choice, "", content, "rain.csv", encoding="utf-16"), 400, "encoding_refused")
    refused(table(api, choice, "", content, "rain.csv", encoding="klingon"), 400, "encoding_refused")
    assert not Upload.objects.exists()
    shown = table(api, choice, "columns/", content, "rain.csv", encoding="Latin-1").json()
    assert shown["rows"][0]["cells"]["text"] == "Café “Noël”"
    assert table(api, choice, "", content, "rain.csv", encoding="Latin-1").json()["state"] == "done"
    assert Item.objects.get().document.data["text"] == "Café “Noël”"


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ('{"id": "doc", "text": ["passage", "body"]}', "text can be one column, not both “passage” and “body”"),
        ('{"id": "doc", "text": "passage", "text": "body"}', "text can be one column, not both “passage” and “body”"),
        ('{"id": "doc"}', "No column is text, which every row needs"),
        (
            '{"id": "doc", "text": "pasage"}',
            "The file has no column “pasage” for text; it has doc, passage, body, gold.",
        ),
        ('{"id": "doc", "text": "passage", "colour": "body"}', "There is no field “colour”"),
    ],
)
def test_a_mapping_that_does_not_fit_is_refused_and_changes_nothing(
    api: APIClient, choice: Project, mapping: str, said: str
) -> None:
    error = refused(table(api, choice, mapping=mapping), 400, "mapping_refused")
    assert said in error["message"] and error["message"].endswith("Nothing was changed.")
    choice.refresh_from_db()
    assert (Upload.objects.count(), Item.objects.count(), choice.mapping) == (0, 0, {})


@pytest.mark.parametrize("mapping", ["text=passage", "[]", "{}", '{"text": 3}', '[["text", "passage"]]', "[" * 9000])
def test_a_mapping_that_is_no_object_of_columns_is_invalid(api: APIClient, choice: Project, mapping: str) -> None:
    assert "mapping" in refused(table(api, choice, mapping=mapping), 400, "invalid")["details"]


def test_a_table_without_the_columns_that_are_needed_is_refused_by_the_import(api: APIClient, choice: Project) -> None:
    row = table(api, choice).json()
    assert row["state"] == "refused"
    assert [fault["message"][:36] for fault in row["faults"]] == [
        "No column is id, which every row nee",
        "No column is text, which every row n",
    ]


def test_a_recipe_without_a_table_has_no_columns_to_show_or_to_map(api: APIClient, river: Project) -> None:
    refused(table(api, river, "columns/"), 409, "no_table")
    refused(table(api, river, mapping='{"text": "passage"}'), 409, "no_table")
    refused(table(api, river, "columns/", b"id,id\n"), 409, "no_table")


def test_what_is_no_table_has_faults_instead_of_columns(api: APIClient, choice: Project) -> None:
    error = refused(table(api, choice, "columns/", b"PK\x03\x04"), 400, "file_refused")
    assert error["details"]["fault_count"] == 1


def test_the_sample_file_of_a_recipe_is_imported(api: APIClient, choice: Project) -> None:
    sample = api.get(f"/api/projects/{choice.slug}/sample-file/")
    assert sample.headers["Content-Disposition"] == 'attachment; filename="choice-sample.csv"'
    assert table(api, choice, content=sample.content, name="rows.csv").json()["items"] == 3
