"""Downloads of results: who may, what the choices do, and that other pages answer while one runs."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from hits import tasks
from hits.judging.rules.summaries import refresh_summary
from hits.models import Stage, Worker
from hits.projects.models import Membership
from hits.releases.verbs import exporting
from tests.hits import factories as make
from tests.hits.releases.test_imported_results import csv_of, imported, moods, row


@pytest.fixture
def stage(alice: Any) -> Stage:
    return make.stage(make.project(owner=alice, slug="river"), key="validate")


def answered(stage: Stage, worker: str) -> None:
    make.label(make.assignment(make.hit(make.item(stage)), make.worker(worker)))
    refresh_summary(stage)


def rows(response: Any) -> list[dict[str, str]]:
    assert response.status_code == 200
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode(), newline="")))


def test_the_page_offers_each_format_and_downloads_what_was_chosen(
    lead_client: Client, alice: Any, stage: Stage
) -> None:
    answered(stage, "AWORKER1")
    lead_client.force_login(alice)
    page = lead_client.get(reverse("results", args=["river", "validate"])).content.decode()
    assert all(f'value="{name}"' in page for name in exporting.FORMATS)
    address = reverse("results-file", args=["river", "validate"])
    (row,) = rows(lead_client.get(address))
    assert row["WorkerId"] != "AWORKER1" and row["AssignmentStatus"] == "Approved"
    (row,) = rows(lead_client.get(address, {"file": "csv", "workers": "ids", "answers": "all"}))
    assert (row["worker"], row["not_counted"]) == ("AWORKER1", "")
    (row,) = rows(lead_client.get(address, {"file": "csv", "inputs": "1"}))
    assert "Input.text" in row and 'name="inputs"' in page
    assert lead_client.get(address, {"file": "xlsx"}).status_code == 302


def test_without_answers_the_page_says_what_is_missing_and_offers_no_file(lead_client: Client, alice: Any) -> None:
    stage = moods()
    make.member(stage.project, alice)
    lead_client.force_login(alice)
    for address in (
        reverse("results", args=[stage.project.slug, stage.key]),
        reverse("project-results", args=[stage.project.slug]),
    ):
        page = lead_client.get(address).content.decode()
        assert "No answers yet" in page and "data-download" not in page


def test_the_page_leads_from_its_top_to_where_files_come_in_for_those_who_may(lead_client: Client, alice: Any) -> None:
    stage = moods()
    make.member(stage.project, alice)
    reader = make.user("reader")
    make.member(stage.project, reader, Membership.Role.READER)
    address, link = reverse("results", args=[stage.project.slug, stage.key]), '<a href="#bring">'
    lead_client.force_login(alice)
    page = lead_client.get(address).content.decode()
    assert page.index(link) < page.index('id="bring"')
    lead_client.force_login(reader)
    assert link not in lead_client.get(address).content.decode()


def test_the_page_of_a_project_has_the_answers_of_all_stages(lead_client: Client, alice: Any, stage: Stage) -> None:
    answered(stage, "AWORKER1")
    answered(make.stage(stage.project, key="again"), "AWORKER2")
    lead_client.force_login(alice)
    assert b"Validate alone" in lead_client.get(reverse("project-results", args=["river"])).content
    response = lead_client.get(reverse("project-results-file", args=["river"]), {"file": "csv"})
    assert [row["stage"] for row in rows(response)] == ["validate", "again"]
    assert lead_client.get(reverse("project-results-file", args=["river"]), {"file": "xlsx"}).status_code == 302


def test_another_page_answers_while_a_download_runs(
    lead_client: Client, alice: Any, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is locked, and no query stays open, as long as somebody reads the file."""
    monkeypatch.setattr(exporting, "CHUNK", 1)
    for number in range(3):
        answered(stage, f"AWORKER{number}")
    lead_client.force_login(alice)
    response = lead_client.get(reverse("results-file", args=["river", "validate"]))
    pieces = iter(response.streaming_content)
    begun = next(pieces)
    assert lead_client.get(reverse("stage", args=["river", "validate"])).status_code == 200
    answered(stage, "ALATE")
    assert begun.startswith(b"HITId,") and b"".join(pieces).count(b"\r\n") == 4


# Files that come in


def test_a_file_comes_in_over_its_columns_and_goes_again_with_one_button(lead_client: Client, alice: Any) -> None:
    stage = moods()
    make.member(stage.project, alice)
    address = [stage.project.slug, stage.key]
    known = {"Input.known": "Sad", "text": "A café."}
    content = csv_of(row(1, "A1", "Glad", **known), row(2, "A2", "Sad", **known)).decode().encode("cp1252")
    lead_client.force_login(alice)
    content = content.replace(b"Answer.mood", b"Answer.feeling").replace(b"\r\n", b",\r\n")
    file = SimpleUploadedFile("old.csv", content)
    reply = lead_client.post(reverse("import-results", args=address), {"file": file})
    upload = stage.result_files.get()
    columns = reverse("results-columns", args=[*address, upload.pk])
    assert reply["Location"] == columns and b"Windows-1252" in lead_client.get(columns).content
    file.seek(0)
    assert lead_client.post(reverse("import-results", args=address), {"file": file})["Location"] == columns
    assert stage.result_files.count() == 1
    assert lead_client.post(columns, {"encoding": "utf-16"}).status_code == 400
    page = lead_client.post(columns, {"encoding": "cp1252"}, follow=True).content.decode()
    assert "Answer.feeling" in page and "A café." in page
    assert b"No column is Answer.mood" in lead_client.post(columns, {"field-1": "Answer.mood", "column-1": ""}).content
    chosen = {
        "field-1": "Answer.mood", "column-1": "Answer.feeling",
        "field-2": "Input.known", "column-2": "", "value-2": "Glad",
    }  # fmt: skip
    lead_client.post(columns, chosen)
    tasks.import_upload(upload.pk)
    progress = lead_client.get(reverse("upload", args=[stage.project.slug, upload.pk])).content
    assert b"The last column is not read: there is no name in the first line." in progress
    file.seek(0)
    again = lead_client.post(reverse("import-results", args=address), {"file": file})["Location"]
    assert "The same file was imported already" in lead_client.post(again, {"encoding": "cp1252"}).content.decode()
    assert sorted(stage.labels.values_list("value", "correct")) == [("glad", True), ("sad", False)]
    answers = lead_client.get(reverse("answers", args=address), {"show": "imported"}).content.decode()
    assert answers.count("imported, unpaid") == 2 and "pay-bonus" not in answers
    lines = b"".join(lead_client.get(reverse("answers-csv", args=address)).streaming_content).decode().splitlines()
    assert dict(zip(*csv.reader(lines[:2]), strict=True))["imported_from"] == "old.csv"
    for page, more in (("item", [stage.items.get().pk]), ("workers", []), ("stage", [])):
        assert b"mported" in lead_client.get(reverse(page, args=[*address, *more])).content
    remove = reverse("remove-results", args=[*address, upload.pk])
    assert b"Remove 2 answers" in lead_client.get(remove).content
    lead_client.post(remove)
    assert not stage.assignments.exists() and not stage.items.exists()
    upload.refresh_from_db()
    assert upload.state == "removed"


def test_what_cannot_be_read_is_told_on_the_page(lead_client: Client, alice: Any, stage: Stage) -> None:
    lead_client.force_login(alice)
    for each, content, said in (
        (stage, b"a,b\n1,2\n", "takes no files of results"),
        (moods(), b"a,b\n1,2\n", "is no file of results"),
        (moods(), b"", "empty"),
    ):
        if each is not stage:
            make.member(each.project, alice)
        reply = lead_client.post(
            reverse("import-results", args=[each.project.slug, each.key]),
            {"file": SimpleUploadedFile("a.csv", content)},
        )
        assert reply.status_code == 400 and said in reply.content.decode()


def test_a_worker_of_a_file_whose_id_has_a_slash_has_a_page(lead_client: Client, alice: Any) -> None:
    stage = moods()
    Membership.objects.create(project=stage.project, user=alice, role=Membership.Role.OWNER)
    imported(stage, csv_of(row(1, "room/12", "Glad")))
    lead_client.force_login(alice)
    page = lead_client.get(reverse("workers", args=[stage.project.slug, stage.key])).content.decode()
    address = reverse("worker", args=[stage.project.slug, Worker.objects.get().worker_id])
    assert f'href="{address}"' in page
    assert "room/12" in lead_client.get(address).content.decode()
