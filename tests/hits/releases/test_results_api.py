"""Results over the API."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.files.uploadedfile import SimpleUploadedFile
from pyarrow import parquet
from rest_framework.test import APIClient

from hits import tasks
from hits.accounts.verbs.api_tokens import make_token
from tests.hits import factories as make
from tests.hits.api_calls import signed_in
from tests.hits.releases.test_imported_results import csv_of, moods, row

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead() -> Any:
    user = make.user("alice")
    stage = make.stage(make.project(owner=user, slug="river"), key="validate")
    make.label(make.assignment(make.hit(make.item(stage)), make.worker("AWORKER1")))
    return signed_in(user)


def test_results_of_a_stage_and_of_a_project_are_files(lead: Any) -> None:
    response = lead.get("/api/projects/river/stages/validate/results/", {"file": "jsonl", "workers": "ids"})
    row = json.loads(b"".join(response.streaming_content))
    assert response.status_code == 200 and row["worker"] == "AWORKER1" and "stage" not in row
    response = lead.get("/api/projects/river/stages/validate/results/", {"file": "jsonl", "inputs": "1"})
    assert "Input.text" in json.loads(b"".join(response.streaming_content))
    response = lead.get("/api/projects/river/results/")
    assert b"".join(response.streaming_content).startswith(b"HITId,")
    assert response["Content-Disposition"] == 'attachment; filename="river-results.csv"'


def test_a_token_that_only_reads_takes_them_out(lead: Any) -> None:
    token = make_token(get_user_model().objects.get(username="alice"), "laptop", "read")[1]
    response = APIClient(headers={"Authorization": f"Token {token}"}).get("/api/projects/river/results/?file=parquet")
    table = parquet.read_table(io.BytesIO(b"".join(response.streaming_content)))
    assert table.num_rows == 1 and table.column("worker").to_pylist() != ["AWORKER1"]


def test_an_unknown_choice_is_refused_by_its_name(lead: Any) -> None:
    response = lead.get("/api/projects/river/results/", {"file": "xlsx", "worker": "ids"})
    assert response.status_code == 400 and "worker" in str(response.json())


def test_a_file_is_sent_in_looked_at_and_removed() -> None:
    stage, user = moods(), make.user("bob")
    make.member(stage.project, user)
    lead, address = signed_in(user), f"/api/projects/{stage.project.slug}/stages/{stage.key}/results/"
    content = csv_of({name: cell for name, cell in row(1, "A1", "Glad").items() if name != "Input.known"})
    content = content.replace(b"\r\n", b",\r\n")
    file = lambda: SimpleUploadedFile("old.csv", content)  # noqa: E731
    told = lead.post(f"{address}columns/", {"file": file()}).json()
    assert told["layout"] == "mturk" and {"name": "Input.known", "needed": True, "column": ""} in told["fields"]
    assert lead.post(address, {"file": file()}).status_code == 400
    made = lead.post(address, {"file": file(), "mapping": json.dumps({"Input.known": "=Glad"})})
    assert (made.status_code, made.json()["kind"]) == (202, "results")
    tasks.import_upload(made.json()["id"])
    upload = lead.get(f"/api/projects/{stage.project.slug}/uploads/{made.json()['id']}/").json()
    assert upload["notes"] == ["The last column is not read: there is no name in the first line."]
    (answer,) = lead.get(address.replace("results", "answers")).json()["results"]
    assert (answer["state"], answer["hit_id"], answer["imported_from"]) == ("Imported", None, made.json()["id"])
    assert lead.delete(f"{address}{made.json()['id']}/").json() == {"removed": 1}
    assert lead.delete(f"{address}{made.json()['id']}/").status_code == 409
