"""Results over the API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.hits import factories as make
from tests.hits.api.conftest import signed_in

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
    response = lead.get("/api/projects/river/results/")
    assert b"".join(response.streaming_content).startswith(b"HITId,")
    assert response["Content-Disposition"] == 'attachment; filename="river-results.csv"'


def test_an_unknown_choice_is_refused_by_its_name(lead: Any) -> None:
    response = lead.get("/api/projects/river/results/", {"file": "xlsx", "worker": "ids"})
    assert response.status_code == 400 and "worker" in str(response.json())
