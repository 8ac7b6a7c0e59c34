"""Every refusal has one shape, and what rules and verbs raise has a code of its own."""

from __future__ import annotations

import re
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import pytest
from django.conf import settings
from kombu.exceptions import OperationalError
from rest_framework.test import APIClient

import hits
from hits import tasks
from hits.answers.verbs.serving import TaskRefusedError
from hits.core.jobs import queue
from hits.core.verbs import REGISTRY
from hits.models import Hit, Stage, WaitingJob
from hits.refusals import Refusal, Refused
from tests.hits import factories
from tests.hits.api_calls import HOME, STAGE


def refused(answer: Any, status: int, code: str) -> dict[str, Any]:
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.content
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "details"} and error["message"]
    return error


def test_wrong_fields_are_named_and_nothing_changes(api: APIClient, river_stage: Stage) -> None:
    error = refused(api.patch(STAGE, {"reward": "0.001", "auto_block": "perhaps"}, format="json"), 400, "invalid")
    assert set(error["details"]) == {"reward", "auto_block"}


def test_broken_json_is_said_to_be_broken(api: APIClient, river_stage: Stage) -> None:
    refused(api.patch(STAGE, b"{reward", content_type="application/json"), 400, "parse_error")


def test_an_unknown_address_has_the_shape_too(api: APIClient, db: None) -> None:
    refused(api.get("/api/projekts/"), 404, "not_found")
    refused(APIClient().get("/api/projekts/"), 401, "not_authenticated")


def test_a_wrong_method_says_which_are_right(api: APIClient, river_stage: Stage) -> None:
    answer = api.put(STAGE)
    refused(answer, 405, "method_not_allowed")
    assert "PATCH" in answer["Allow"]


def test_another_content_type_is_refused(api: APIClient, river_stage: Stage) -> None:
    refused(api.patch(STAGE, "reward=1", content_type="text/plain"), 415, "unsupported_media_type")


def test_a_body_without_end_is_refused_before_it_is_read(api: APIClient, river_stage: Stage, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    refused(api.patch(STAGE, {"reward": "1" * 200}, format="json"), 413, "too_large")


def test_a_wrong_token_is_refused(river_stage: Stage) -> None:
    client = APIClient(headers={"Authorization": "Token wrong"})
    answer = client.get(HOME)
    refused(answer, 401, "authentication_failed")
    assert answer["WWW-Authenticate"].startswith("Token")


def test_money_that_is_not_there_names_both_amounts(api: APIClient, river_stage: Stage, eager: None) -> None:
    factories.items(river_stage, 3)
    river_stage.project.account.budget = "0.10"
    river_stage.project.account.save()
    body = {"items": 3, "total": "0.15", "confirmation": "page-one"}
    error = refused(api.post(STAGE + "publish/", body, format="json"), 409, "budget_exceeded")
    assert error["details"] == {"needed": "0.15", "left": "0.10"}


def test_a_job_that_no_queue_takes_is_kept_and_begins_when_it_is_back(
    api: APIClient, river_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as away:
        away.setattr(tasks.harvest_stage, "delay", _no_broker)
        for _ in range(2):
            assert api.post(STAGE + "harvest/").status_code == 202
    assert [(row.task, row.arguments) for row in WaitingJob.objects.all()] == [
        ("hits.tasks.harvest_stage", [river_stage.pk])
    ]
    begun: list[int] = []
    monkeypatch.setattr(tasks.harvest_stage, "delay", begun.append)
    queue.absence.until = 0.0
    tasks.resume_all()
    assert begun == [river_stage.pk]
    assert not WaitingJob.objects.exists()


def test_what_is_written_down_starts_later_when_the_queue_is_away(
    api: APIClient, river_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.hit(factories.item(river_stage), state=Hit.State.LIVE)
    monkeypatch.setattr(tasks.publish_batch, "delay", _no_broker)
    answer = api.post(STAGE + "expire/")
    assert (answer.status_code, answer.json()["state"]) == (202, "publishing")


def _no_broker(*arguments: Any) -> None:
    raise OperationalError("refused")


def test_a_fault_of_ours_is_written_down_and_says_nothing_of_its_inside(
    api: APIClient, river_stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*arguments: Any) -> None:
        raise RuntimeError("secret inside")

    monkeypatch.setattr("hits.publishing.verbs.publishing.pause", fail)
    api.raise_request_exception = False
    answer = api.post(STAGE + "pause/")
    refused(answer, 500, "server_error")
    assert b"secret" not in answer.content
    assert "secret inside" in caplog.text


def _below(kind: type[Exception]) -> list[type[Exception]]:
    return [found for child in kind.__subclasses__() for found in (child, *_below(child))]


def test_every_refusal_has_a_code_and_no_two_have_the_same() -> None:
    codes = [kind.__dict__["error_code"] for kind in _below(Refusal) if "error_code" in kind.__dict__]
    assert len(set(codes)) == len(codes)
    # One kind names its codes where it is raised.
    assert [kind for kind in Refusal.__subclasses__() if "error_code" not in kind.__dict__] == [Refused]
    sources = [file.read_text() for file in (settings.ROOT / "hits").rglob("*.py")]
    named = {code for source in sources for code in re.findall(r"\bRefused\(\s*\"(\w+)\"", source)}
    assert len({*codes, *named}) > 150 and not named & set(codes)


def test_every_code_that_a_declared_verb_names_is_raised_somewhere() -> None:
    codes = {kind.__dict__["error_code"] for kind in _below(Refusal) if "error_code" in kind.__dict__}
    sources = "".join(file.read_text() for file in (settings.ROOT / "hits").rglob("*.py"))
    named = set(re.findall(r"\bRefused\(\s*\"(\w+)\"", sources))
    assert {code for verb in REGISTRY.values() for code in verb.refuses} - codes - named == set()


def test_whatever_a_verb_raises_is_a_refusal_that_api_and_commands_know() -> None:
    raised = {
        value
        for found in walk_packages(hits.__path__, "hits.")
        if re.fullmatch(r"hits\.(core|\w+\.(rules|verbs))(\.\w+)*", found.name)
        for module in [import_module(found.name)]
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Exception) and value.__module__ == module.__name__
    }
    unknown = {kind for kind in raised if not issubclass(kind, (Refusal, TaskRefusedError))}
    # A lost lease ends its job, which is tried again; the other one does not leave the modules that raise it.
    assert {kind.__name__ for kind in unknown} == {"LeaseLostError", "StoppedError"}


def test_the_brake_says_when_to_come_back(api: APIClient, river_stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hits.api.base.LeadThrottle.rate", "2/min")
    assert [api.get(HOME).status_code for _ in range(2)] == [200, 200]
    answer = api.get(HOME)
    error = refused(answer, 429, "throttled")
    assert 0 < error["details"]["seconds"] <= 60
    assert int(answer["Retry-After"]) <= 60
