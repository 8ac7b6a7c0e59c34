"""Qualifications that the project grants, as a program sees them."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from hits.models import Stage
from tests.hits import factories
from tests.hits.api_calls import HOME
from tests.hits.market import Marketplace
from tests.hits.strangers import STRANGER

pytestmark = pytest.mark.usefixtures("eager")


@pytest.fixture
def parts(river_stage: Stage) -> Stage:
    Stage.objects.update(grants="part-one")
    factories.stage(
        river_stage.project, key="other", requirements=[{"qualification": "part-one", "comparator": "DoesNotExist"}]
    )
    return river_stage


def test_they_are_named_with_what_they_do(api: APIClient, parts: Stage) -> None:
    (one,) = api.get(HOME + "qualifications/").json()["results"]
    assert one == {"key": "part-one", "opens": [], "closes": ["other"], "given_by": ["validate"]}


def test_one_is_given_listed_and_withdrawn(
    api: APIClient, parts: Stage, market: Marketplace, stranger_refused: None
) -> None:
    worker = market.sign_up_worker()
    given = {"key": "part-one", "worker_ids": [worker, STRANGER]}
    answer = api.post(HOME + "grants/", given, format="json")
    assert answer.status_code == 202 and answer.json()["message"].startswith("2 workers are")
    held, waits = api.get(answer.json()["see"]).json()["results"]
    assert (held["worker_id"], held["state"], held["created_by"], held["stage"]) == (worker, "granted", "alice", None)
    assert waits["state"] == "intended" and "does not exist" in waits["error"]
    assert api.post(f"{HOME}grants/{held['id']}/withdraw/").status_code == 202
    (gone,) = api.get(HOME + "grants/?state=withdrawn&key=part-one").json()["results"]
    assert gone["id"] == held["id"] and gone["withdrawn_at"]
    assert api.get(HOME + "grants/?key=other").json()["results"] == []
