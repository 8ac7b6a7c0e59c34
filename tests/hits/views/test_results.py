"""Downloads of results: who may, what the choices do, and that other pages answer while one runs."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.flow.data import exporting
from hits.models import Stage
from tests.hits import factories as make


@pytest.fixture
def stage(alice: Any) -> Stage:
    return make.stage(make.project(owner=alice, slug="river"), key="validate")


def answered(stage: Stage, worker: str) -> None:
    make.label(make.assignment(make.hit(make.item(stage)), make.worker(worker)))


def rows(response: Any) -> list[dict[str, str]]:
    assert response.status_code == 200
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode(), newline="")))


def test_the_page_offers_each_format_and_downloads_what_was_chosen(client: Client, alice: Any, stage: Stage) -> None:
    answered(stage, "AWORKER1")
    client.force_login(alice)
    page = client.get(reverse("results", args=["river", "validate"])).content.decode()
    assert all(f'value="{name}"' in page for name in exporting.FORMATS)
    address = reverse("results-file", args=["river", "validate"])
    (row,) = rows(client.get(address))
    assert row["WorkerId"] != "AWORKER1" and row["AssignmentStatus"] == "Approved"
    (row,) = rows(client.get(address, {"file": "csv", "workers": "ids", "answers": "all"}))
    assert (row["worker"], row["not_counted"]) == ("AWORKER1", "")
    assert client.get(address, {"file": "xlsx"}).status_code == 302


def test_the_page_of_a_project_has_the_answers_of_all_stages(client: Client, alice: Any, stage: Stage) -> None:
    answered(stage, "AWORKER1")
    answered(make.stage(stage.project, key="again"), "AWORKER2")
    client.force_login(alice)
    assert b"Validate alone" in client.get(reverse("project-results", args=["river"])).content
    response = client.get(reverse("project-results-file", args=["river"]), {"file": "csv"})
    assert [row["stage"] for row in rows(response)] == ["validate", "again"]
    assert client.get(reverse("project-results-file", args=["river"]), {"file": "xlsx"}).status_code == 302


def test_another_page_answers_while_a_download_runs(
    client: Client, alice: Any, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is locked, and no query stays open, as long as somebody reads the file."""
    monkeypatch.setattr(exporting, "CHUNK", 1)
    for number in range(3):
        answered(stage, f"AWORKER{number}")
    client.force_login(alice)
    response = client.get(reverse("results-file", args=["river", "validate"]))
    pieces = iter(response.streaming_content)
    begun = next(pieces)
    assert client.get(reverse("stage", args=["river", "validate"])).status_code == 200
    answered(stage, "ALATE")
    assert begun.startswith(b"HITId,") and b"".join(pieces).count(b"\r\n") == 4
