"""Decisions that wait a little with their call, and are undone until then, at a real marketplace."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from hits.answers.verbs import reviewing
from hits.models import Assignment, Stage
from hits.publishing.rules.marketplace_account import gateway
from tests.hits import factories
from tests.hits.api.test_errors import refused
from tests.hits.api_calls import STAGE
from tests.hits.publishing.test_publishing_api import confirm
from tests.hits.record_project import fields


@pytest.fixture
def waiting(api: APIClient, river_stage: Stage, market: Any, eager: None) -> list[Assignment]:
    """Two answers of one worker that wait for review."""
    Stage.objects.filter(pk=river_stage.pk).update(auto_approval_seconds=86_400, approval=Stage.Approval.REVIEW)
    factories.items(river_stage, 2)
    confirm(api)
    worker = market.sign_up_worker()
    for hit in river_stage.hits.all():
        market.answer(worker, hit.hit_id, **fields(hit, "Linden"))
    api.post(STAGE + "harvest/")
    return list(river_stage.assignments.order_by("pk"))


def _approve(api: APIClient, row: Assignment) -> None:
    body = {"answers": [row.pk], "undoable": True}
    assert api.post(STAGE + "answers/approve/", body, format="json").json()["decided"] == 1


def _undo(api: APIClient, row: Assignment) -> Any:
    return api.post(STAGE + "answers/undo/", {"answers": [row.pk]}, format="json")


def _status(row: Assignment) -> str:
    return str(gateway().assignment(row.assignment_id).status)


def test_an_undone_approval_was_never_made_at_the_marketplace(
    api: APIClient, river_stage: Stage, waiting: list[Assignment]
) -> None:
    _approve(api, waiting[0])
    assert _undo(api, waiting[0]).json() == {"undone": 1, "more": False}
    assert (reviewing.finish(river_stage), _status(waiting[0])) == (0, "Submitted")


def test_a_decision_is_carried_out_and_paid_once_its_wait_is_over_and_no_undo_comes_then(
    api: APIClient, river_stage: Stage, waiting: list[Assignment]
) -> None:
    _approve(api, waiting[0])
    assert (reviewing.finish(river_stage), _status(waiting[0])) == (0, "Submitted")
    Assignment.objects.filter(pk=waiting[0].pk).update(not_before=timezone.now())
    refused(_undo(api, waiting[0]), 409, "undo_too_late")
    assert (reviewing.finish(river_stage), _status(waiting[0])) == (1, "Approved")
    refused(_undo(api, waiting[0]), 409, "undo_too_late")
    assert str(api.get("/api/projects/river/").json()["account"]["paid"]) == "0.05"
