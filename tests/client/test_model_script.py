"""The script of the documents that answers as a model, as a program of its own, beside people."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate_client import (
    Client,
    ForbiddenError,
    GivenItem,
    ModelAnswer,
    ModelAnswersRefusedError,
    ModelClient,
    NotGivenAgainWarning,
    NotSignedInError,
    Project,
)
from annotate_client.api import path
from ops.stack import Stack
from ops.surroundings import ROOT
from tests.client.conftest import rows, run_script

DOCUMENT = ROOT / "docs" / "how-to" / "client.md"


@pytest.fixture
def registered(client: Client, project: Project) -> dict[str, Any]:
    """A model of the project, with its token; ten items wait."""
    project.import_items(rows())
    wanted = {"name": "shared-words", "version": "1"}
    return dict(client.api.post(path("projects", project.slug, "models"), wanted))


@pytest.fixture
def model(stack: Stack, registered: dict[str, Any]) -> Any:
    with ModelClient(stack.web_url, registered["token"]) as made:
        yield made


def test_it_answers_every_item_once(
    registered: dict[str, Any], model: ModelClient, environment: dict[str, str], tmp_path: Path
) -> None:
    (script,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert len(script.splitlines()) <= 20
    (tmp_path / "answer.py").write_text(script, encoding="utf-8")
    settings = environment | {"ANNOTATE_TOKEN": "", "ANNOTATE_MODEL_TOKEN": registered["token"]}
    assert run_script(["answer.py"], settings, tmp_path) == "10 items answered\n"
    (stage,) = model.about()["stages"]
    assert (stage["key"], stage["items"], stage["answered"]) == ("choose", 10, 10)
    assert run_script(["answer.py"], settings, tmp_path) == "0 items answered\n"


def test_what_it_was_not_given_or_does_not_fit_is_refused_with_its_items(project: Project, model: ModelClient) -> None:
    first, second = model.take("choose", count=2)
    other = next(
        item["id"] for item in project.stage("choose").items() if item["id"] not in (first["id"], second["id"])
    )
    fits = ModelAnswer({"choice": first["task"]["choices"][0]["id"]}, confidence=0.5)
    wrong = [(first["id"], fits), (second["id"], ModelAnswer({"choice": "no such choice"})), (other, fits)]
    with pytest.raises(ModelAnswersRefusedError) as caught:
        model.answer("choose", wrong)
    assert caught.value.items == {second["id"], other}
    assert {fault["code"] for fault in caught.value.faults} == {"does_not_fit", "not_given"}
    assert model.about()["stages"][0]["answered"] == 0
    assert model.answer("choose", [(first["id"], fits)]) == {"new": 1, "unchanged": 0}
    assert model.answer("choose", [(first["id"], fits)]) == {"new": 0, "unchanged": 1}


def test_what_failed_three_times_is_told_and_given_again_by_a_lead(
    client: Client, project: Project, registered: dict[str, Any], model: ModelClient
) -> None:
    def fails_at_the_fourth(item: GivenItem) -> ModelAnswer:
        calls.append(item["id"])
        if len(calls) == 4:
            raise KeyError("weights")
        return first_choice(item)

    calls: list[int] = []
    with pytest.raises(KeyError):
        model.run("choose", fails_at_the_fourth, lease_seconds=10)
    stage = model.about()["stages"][0]
    assert (stage["answered"], stage["leased"], stage["not_given_again"]) == (3, 7, 0)
    assert stage["next_free_at"]
    for _ in range(2):
        calls[:] = [0, 0, 0]
        with pytest.raises(KeyError):
            model.run("choose", fails_at_the_fourth, lease_seconds=10)
    with pytest.warns(NotGivenAgainWarning, match="7 items of choose"):
        assert model.run("choose", first_choice) == 0
    again = client.api.post(path("projects", project.slug, "models", registered["id"], "give-again"))
    assert again == {"items": 7}
    assert model.run("choose", first_choice) == 7


def first_choice(item: GivenItem) -> ModelAnswer:
    return ModelAnswer({"choice": item["task"]["choices"][0]["id"]}, confidence=0.5)


def test_its_token_opens_nothing_else(
    stack: Stack, registered: dict[str, Any], model: ModelClient, token: str, new_project: Callable[[], Project]
) -> None:
    with Client(stack.web_url, registered["token"]) as lead, pytest.raises(NotSignedInError):
        list(lead.projects())
    with pytest.raises((NotSignedInError, ForbiddenError)):
        model.api.get("projects/")
    with ModelClient(stack.web_url, token) as person, pytest.raises(NotSignedInError):
        person.about()
