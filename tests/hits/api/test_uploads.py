"""Files come in whole or not at all, and are followed by their address."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from hits.flow.pipeline import importing
from hits.models import Item, Project, Stage, Upload
from tests.hits.api.conftest import HOME
from tests.hits.api.test_errors import refused
from tests.hits.flow.conftest import example, lines

UPLOADS = HOME + "uploads/"


@pytest.fixture(autouse=True)
def first_stage(stage: Stage, eager: None) -> Stage:
    return stage


def send(api: APIClient, content: bytes, **more: str) -> Any:
    return api.post(UPLOADS, {"file": SimpleUploadedFile("river.jsonl", content), **more}, format="multipart")


def test_a_good_file_becomes_items(api: APIClient, project: Project) -> None:
    answer = send(api, lines([example(n) for n in range(3)]), origin="crawled")
    assert answer.status_code == 202
    row = api.get(f"{UPLOADS}{answer.json()['id']}/").json()
    assert (row["state"], row["items"], row["faults"], row["created_by"]) == ("done", 3, [], "alice")
    assert set(project.documents.values_list("origin", flat=True)) == {"crawled"}


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


def test_the_list_leaves_the_faults_to_the_detail(api: APIClient, project: Project, alice: Any) -> None:
    importing.create_upload(project, "a.jsonl", b"{}", "public", alice)
    row = api.get(UPLOADS).json()["results"][0]
    assert (row["name"], row["state"], row["bytes"]) == ("a.jsonl", "queued", 2)
    assert "faults" not in row


def test_an_import_is_stopped(api: APIClient, project: Project, alice: Any) -> None:
    row = importing.create_upload(project, "a.jsonl", b"{}", "public", alice)
    answer = api.post(f"{UPLOADS}{row.pk}/stop/")
    assert (answer.status_code, answer.json()["state"], answer.json()["error"]) == (200, "stopped", "")
    assert importing.import_upload(row.pk) == 0
    assert api.post(f"{UPLOADS}{row.pk}/stop/").json()["state"] == "stopped"
