"""Qualification tests by the API: drafts, offering, requirements, results."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from hits.models import Item, Project, QualificationScore, QualificationTest, Stage
from tests.hits import factories
from tests.hits.api_calls import HOME, STAGE, logged
from tests.hits.market import Marketplace

pytestmark = pytest.mark.django_db
TESTS = HOME + "qualification-tests/"
ONE = TESTS + "reading-test/"
NEW: dict[str, Any] = {"key": "reading-test", "title": "Reading", "description": "Opens a stage."}


def post(api: APIClient, address: str, body: Any = None) -> Any:
    return api.post(address, body or {}, format="json")


def test_a_draft_is_made_changed_required_and_removed(api: APIClient, river: Project, river_stage: Stage) -> None:
    made = post(api, TESTS, {**NEW, "questions": factories.known_questions()})
    assert made.status_code == 201 and (made.json()["state"], made.json()["pass_mark"]) == ("draft", 80)
    changed = api.patch(ONE, {"pass_mark": 60, "retry_days": 7}, format="json").json()
    assert (changed["pass_mark"], changed["retry_days"], changed["questions"]) == (60, 7, factories.known_questions())
    assert changed["fingerprint"] != made.json()["fingerprint"]
    assert [one["key"] for one in api.get(TESTS).json()["results"]] == ["reading-test"]
    assert api.put(STAGE + "required-tests/reading-test/").status_code == 200
    assert api.delete(ONE).json()["error"]["code"] == "test_required"
    assert api.delete(STAGE + "required-tests/reading-test/").status_code == 200
    assert api.delete(ONE).status_code == 204 and api.get(ONE).status_code == 404
    assert logged(river) == [
        "made a qualification test", "changed a qualification test", "required a qualification test",
        "stopped requiring a qualification test", "removed a qualification test",
    ]  # fmt: skip


def test_it_is_offered_required_and_withdrawn(
    api: APIClient, river_stage: Stage, market: Marketplace, eager: None
) -> None:
    shown = post(api, TESTS, {**NEW, "questions": factories.known_questions()}).json()
    factories.item(river_stage)
    assert api.put(STAGE + "required-tests/reading-test/").json()["requirements"][-1]["integers"] == [80]
    order = {"items": 1, "total": "0.05", "confirmation": "page-0001"}
    refused = post(api, STAGE + "publish/", order)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "test_not_offered")
    assert refused.json()["error"]["details"] == {"qualification_tests": ["reading-test"]}
    assert post(api, ONE + "offer/", {"fingerprint": "0"}).json()["error"]["code"] == "test_changed"
    offered = post(api, ONE + "offer/", {"fingerprint": shown["fingerprint"]})
    assert (offered.status_code, offered.json()["required_by"]) == (202, ["validate"])
    assert api.get(ONE).json()["state"] == "offered"
    assert post(api, STAGE + "publish/", order).status_code == 202
    assert api.delete(STAGE + "required-tests/reading-test/").json()["error"]["code"] == "stage_frozen"
    assert api.patch(ONE, {"minutes": 5}, format="json").json()["error"]["code"] == "wrong_test_state"
    assert post(api, ONE + "withdraw/").json()["state"] == "withdrawing"
    assert api.get(ONE).json()["state"] == "withdrawn"
    assert post(api, ONE + "results/fetch/").json()["see"].endswith(ONE + "results/")


def test_questions_are_drawn_and_scores_listed(api: APIClient, river_stage: Stage) -> None:
    post(api, TESTS, NEW)
    assert post(api, ONE + "draw/", {"count": 3}).json()["error"]["code"] == "nothing_known"
    choices = [{"id": "a", "text": "Mara"}, {"id": "b", "text": "Nobody"}]
    factories.item(river_stage, data={"question": "Who?", "choices": choices, "gold": ["b"]}, state=Item.State.KEPT)
    assert post(api, ONE + "draw/", {"count": 3, "stage": "validate"}).json()["questions"][0]["right"] == 1
    test = QualificationTest.objects.get()
    for worker_id, value in (("A1", 79), ("A2", 80)):
        QualificationScore.objects.create(
            test=test, worker_id=worker_id, value=value, granted_at=factories.NOON, seen_at=factories.NOON
        )
    listed = api.get(ONE + "results/").json()["results"]
    assert [(one["worker_id"], one["passed"]) for one in listed] == [("A1", False), ("A2", True)]
