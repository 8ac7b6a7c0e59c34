"""Every refusal has one shape, and what flow modules raise has a code of its own."""

from __future__ import annotations

from typing import Any

import pytest
from kombu.exceptions import OperationalError
from rest_framework.test import APIClient

from hits import tasks
from hits.api.errors import FLOW_ERRORS
from hits.models import Stage
from tests.hits import factories
from tests.hits.api.conftest import HOME, STAGE


def refused(answer: Any, status: int, code: str) -> dict[str, Any]:
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.content
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "details"} and error["message"]
    return error


def test_wrong_fields_are_named_and_nothing_changes(api: APIClient, stage: Stage) -> None:
    error = refused(api.patch(STAGE, {"reward": "0.001", "auto_block": "perhaps"}, format="json"), 400, "invalid")
    assert set(error["details"]) == {"reward", "auto_block"}


def test_broken_json_is_said_to_be_broken(api: APIClient, stage: Stage) -> None:
    refused(api.patch(STAGE, b"{reward", content_type="application/json"), 400, "parse_error")


def test_an_unknown_address_has_the_shape_too(api: APIClient, db: None) -> None:
    refused(api.get("/api/projekts/"), 404, "not_found")
    refused(APIClient().get("/api/projekts/"), 401, "not_authenticated")


def test_a_wrong_method_says_which_are_right(api: APIClient, stage: Stage) -> None:
    answer = api.delete(STAGE)
    refused(answer, 405, "method_not_allowed")
    assert "PATCH" in answer["Allow"]


def test_another_content_type_is_refused(api: APIClient, stage: Stage) -> None:
    refused(api.patch(STAGE, "reward=1", content_type="text/plain"), 415, "unsupported_media_type")


def test_a_body_without_end_is_refused_before_it_is_read(api: APIClient, stage: Stage, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    refused(api.patch(STAGE, {"reward": "1" * 200}, format="json"), 413, "too_large")


def test_a_wrong_token_is_refused(stage: Stage) -> None:
    client = APIClient(headers={"Authorization": "Token wrong"})
    answer = client.get(HOME)
    refused(answer, 401, "authentication_failed")
    assert answer["WWW-Authenticate"].startswith("Token")


def test_money_that_is_not_there_names_both_amounts(api: APIClient, stage: Stage, eager: None) -> None:
    factories.items(stage, 3)
    stage.project.account.budget = "0.10"
    stage.project.account.save()
    body = {"items": 3, "total": "0.15", "confirmation": "page-one"}
    error = refused(api.post(STAGE + "publish/", body, format="json"), 409, "budget_exceeded")
    assert error["details"] == {"needed": "0.15", "left": "0.10"}


def test_a_queue_that_does_not_answer_is_503_and_nothing_was_started(
    api: APIClient, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks.harvest_stage, "delay", _no_broker)
    refused(api.post(STAGE + "harvest/"), 503, "queue_unreachable")


def test_what_is_written_down_starts_later_when_the_queue_is_away(
    api: APIClient, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks.publish_batch, "delay", _no_broker)
    answer = api.post(STAGE + "expire/")
    assert (answer.status_code, answer.json()["state"]) == (202, "publishing")


def _no_broker(*arguments: Any) -> None:
    raise OperationalError("refused")


def test_a_fault_of_ours_is_written_down_and_says_nothing_of_its_inside(
    api: APIClient, stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*arguments: Any) -> None:
        raise RuntimeError("secret inside")

    monkeypatch.setattr("hits.flow.publishing.pause", fail)
    api.raise_request_exception = False
    answer = api.post(STAGE + "pause/")
    refused(answer, 500, "server_error")
    assert b"secret" not in answer.content
    assert "secret inside" in caplog.text


def test_every_error_of_the_rooms_has_a_code_of_its_own() -> None:
    codes = [code for _, _, code in FLOW_ERRORS]
    assert len(set(codes)) == len(codes)


def test_the_brake_says_when_to_come_back(api: APIClient, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hits.api.base.LeadThrottle.rate", "2/min")
    assert [api.get(HOME).status_code for _ in range(2)] == [200, 200]
    answer = api.get(HOME)
    error = refused(answer, 429, "throttled")
    assert 0 < error["details"]["seconds"] <= 60
    assert int(answer["Retry-After"]) <= 60
