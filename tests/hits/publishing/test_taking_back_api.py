"""Rejections taken back and finished HITs deleted, at a real marketplace."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from rest_framework.test import APIClient

from hits.models import Assignment, Batch, Stage
from hits.payments.rules.commitments import BalanceTooLowError
from hits.publishing.rules.marketplace_account import gateway
from tests.hits import factories
from tests.hits.answers.test_undoing_decisions_api import waiting
from tests.hits.api.test_errors import refused
from tests.hits.api_calls import STAGE
from tests.hits.publishing.test_publishing_api import confirm

__all__ = ["waiting"]


@pytest.fixture
def rejected(api: APIClient, river_stage: Stage, waiting: list[Assignment]) -> list[Assignment]:
    """Two answers that were rejected at the marketplace."""
    ids = [row.pk for row in waiting]
    api.post(STAGE + "answers/reject/", {"answers": ids, "feedback": "Too hasty."}, format="json")
    return list(river_stage.assignments.order_by("pk"))


def _paid(api: APIClient) -> str:
    return str(api.get("/api/projects/river/").json()["account"]["paid"])


def test_a_rejection_is_taken_back_and_paid_once(
    api: APIClient, river_stage: Stage, rejected: list[Assignment]
) -> None:
    assert len(api.get(STAGE + "answers/?show=rejected").json()["results"]) == 2
    body = {"answers": [rejected[0].pk]}
    decided = [api.post(STAGE + "answers/take-back/", body, format="json").json()["decided"] for _ in range(2)]
    assert decided == [1, 0]
    assert (_paid(api), gateway().assignment(rejected[0].assignment_id).status) == ("0.05", "Approved")


def test_each_rejection_that_stays_is_named_with_its_reason(
    api: APIClient, river_stage: Stage, rejected: list[Assignment]
) -> None:
    Assignment.objects.update(submitted_at=factories.NOON.replace(year=2025))
    body = {"answers": [row.pk for row in rejected]}
    error = refused(api.post(STAGE + "answers/take-back/", body, format="json"), 409, "take_back_refused")
    assert [reason.split(":")[0] for reason in error["details"]["reasons"]] == [row.assignment_id for row in rejected]
    assert _paid(api) == "0.00"


def test_finished_hits_are_cleared_away_for_good(
    api: APIClient, river_stage: Stage, rejected: list[Assignment]
) -> None:
    Batch.objects.filter(kind="again").delete()  # the rejected items' HITs are open again
    river_stage.hits.update(state="closed", due_at=None)
    for hit in river_stage.hits.all():
        gateway().set_expiration(hit.hit_id, factories.NOON.replace(year=2025))
    batch = api.post(STAGE + "delete-hits/").json()
    assert (batch["kind"], batch["done"], batch["refused"], batch["state"]) == ("delete", 2, 0, "published")
    assert not list(gateway().all_hits())
    refused(api.post(STAGE + "delete-hits/"), 409, "nothing_to_delete")
    body = {"answers": [rejected[0].pk]}
    refused(api.post(STAGE + "answers/take-back/", body, format="json"), 409, "take_back_refused")


def test_a_balance_that_is_too_low_says_what_is_missing(
    api: APIClient, river_stage: Stage, market: Any, eager: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.items(river_stage, 1)
    monkeypatch.setattr("hits.publishing.rules.marketplace_account.balance", lambda: Decimal("0.03"))
    error = refused(confirm(api), 409, "balance_too_low")
    assert error["details"] == {"needed": "0.05", "missing": "0.02"}
    assert "0.02 is missing" in str(BalanceTooLowError(Decimal("0.05"), Decimal("0.03"), Decimal(0)))
