"""The ledger and its comparison with the marketplace, for programs."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from rest_framework.test import APIClient

from hits.models import LedgerCheck, Stage
from tests.hits import factories
from tests.hits.api_calls import HOME
from tests.hits.market import Marketplace

pytestmark = pytest.mark.django_db


def test_entries_are_chosen_by_kind_and_stage(api: APIClient, river_stage: Stage) -> None:
    factories.ledger_entry(river_stage, reserved=Decimal("2.00"))
    factories.ledger_entry(river_stage, kind="release", reserved=Decimal("-0.50"))
    factories.ledger_entry(factories.stage(river_stage.project, key="other"), reserved=Decimal("1.00"))

    def reserved(query: str) -> list[str]:
        return [row["reserved"] for row in api.get(f"{HOME}ledger/?{query}").json()["results"]]

    assert reserved("stage=validate") == ["2.00", "-0.50"]
    assert reserved("stage=validate&kind=release") == ["-0.50"]
    assert api.get(f"{HOME}ledger/?kind=nope").status_code == 400


def test_a_comparison_is_asked_for_and_read(
    api: APIClient, river_stage: Stage, market: Marketplace, eager: None
) -> None:
    factories.hit(factories.item(river_stage))
    asked = api.post(f"{HOME}ledger/checks/", {"deep": True}, format="json")
    assert asked.status_code == 202
    found: dict[str, Any] = api.get(asked.json()["see"]).json()
    assert (found["state"], found["deep"], found["created_by"]) == ("done", True, "alice")
    kinds = {row["kind"]: row for row in found["differences"]}
    assert kinds["missing_hit"]["title"] == "A HIT of the books is not at the marketplace."
    assert kinds["missing_hit"]["remedy"].startswith("Open the stage")
    assert found["faults"] == len([row for row in found["differences"] if not row["passing"]])
    assert {figure["what"].split(":")[0] for figure in found["figures"]} >= {"Reserved", "Paid", "On hold"}
    [listed] = api.get(f"{HOME}ledger/checks/").json()["results"]
    assert (listed["id"], listed["faults"]) == (found["id"], found["faults"])
    assert "differences" not in listed


def test_asking_twice_means_the_one_that_is_under_way(api: APIClient, river_stage: Stage) -> None:
    running = factories.ledger_check(river_stage.project, state=LedgerCheck.State.RUNNING)
    asked = api.post(f"{HOME}ledger/checks/", {}, format="json")
    assert asked.json()["see"].endswith(f"/ledger/checks/{running.pk}/")
    assert LedgerCheck.objects.count() == 1
