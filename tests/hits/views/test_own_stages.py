"""Adding a stage and removing it: page, API and command."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management.base import CommandError

from hits.models import Item, Stage
from tests.hits import factories as make
from tests.hits.api.conftest import api as api
from tests.hits.commands.conftest import Run
from tests.hits.commands.conftest import run as run

pytestmark = pytest.mark.django_db

GIVEN = {
    "title": "Rate", "protocol": "form", "source": "ask", "each": "answer", "draws": "",
    "answers": "2", "reward": "0.05", "hit_title": "Rate a headline",
    "hit_description": "Read a headline and rate it. About 20 seconds.",
}  # fmt: skip


@pytest.fixture
def stage(alice: Any) -> Stage:
    return make.stage(make.project(owner=alice, slug="news", recipe="form"), key="ask", title="Ask", protocol="form")


def test_a_lead_adds_a_stage_writes_its_task_next_and_removes_it(client: Any, stage: Stage) -> None:
    page = client.get("/projects/news/add-stage/").content.decode()
    assert (
        "what “Ask” keeps" in page
        and 'value="form"' in page
        and 'value="html_page"' in page
        and 'value="spans"' not in page
    )
    made = client.post("/projects/news/add-stage/", GIVEN)
    assert (made.status_code, made["Location"]) == (302, "/projects/news/stages/rate/task/")
    new = stage.project.stages.get(key="rate")
    assert (new.answers, str(new.reward), new.input) == (2, "0.05", {"stage": "ask", "each": "answer"})
    assert "Fills by itself with what comes through “Ask”" in client.get("/projects/news/").content.decode()
    assert "Remove “Rate”" in client.get("/projects/news/stages/rate/settings/").content.decode()
    assert client.post("/projects/news/stages/rate/remove/", follow=True).status_code == 200
    assert [one.key for one in stage.project.stages.all()] == ["ask"]


def test_what_does_not_fit_is_told_at_its_field_and_adds_nothing(client: Any, stage: Stage) -> None:
    wrong = {**GIVEN, "hit_title": stage.hit_title, "source": "", "draws": "5", "reward": "a lot"}
    page = client.post("/projects/news/add-stage/", wrong)
    assert page.status_code == 400 and "dollars and cents" in page.content.decode()
    page = client.post("/projects/news/add-stage/", {**wrong, "reward": "0.05"})
    said = page.content.decode()
    assert page.status_code == 400
    assert "could not tell the two apart" in said and "the rows of a file are not drawn" in said
    assert client.post("/projects/news/add-stage/", {**GIVEN, "protocol": "spans"}).status_code == 400
    assert stage.project.stages.count() == 1


def test_a_stage_of_the_recipe_is_not_removed(client: Any, stage: Stage) -> None:
    said = client.post("/projects/news/stages/ask/remove/", follow=True).content.decode()
    assert "is a stage of the recipe" in said and stage.project.stages.count() == 1


def test_by_the_api(api: Any, stage: Stage) -> None:
    given = {"title": "Rate", "protocol": "form", "reward": "0.05", "input": {"stage": "ask"}}
    made = api.post("/api/projects/news/stages/", given, format="json")
    assert (made.status_code, made.data["key"], made.data["reward"]) == (201, "rate", "0.05")
    refused = api.post("/api/projects/news/stages/", given, format="json")
    assert refused.status_code == 400 and "choose another title" in str(refused.data)
    assert api.post("/api/projects/news/stages/", {**given, "colour": "red"}, format="json").status_code == 400
    assert api.delete("/api/projects/news/stages/ask/").status_code == 409
    assert api.delete("/api/projects/news/stages/rate/").status_code == 204
    assert api.get("/api/projects/news/stages/rate/").status_code == 404


def test_by_commands(run: Run, stage: Stage) -> None:
    item = make.item(stage, state=Item.State.KEPT)
    make.verdict(item, outcome="kept")
    said = run("stages", "news", "--add", "Rate", "--protocol", "form", "--from", "ask", "--set", "reward=0.05")
    assert "each item of ask" in said
    assert stage.project.stages.get(key="rate").items.count() == 1
    with pytest.raises(CommandError, match="Name the --protocol: form, html_page"):
        run("stages", "news", "--add", "Again")
    with pytest.raises(CommandError, match="stage of the recipe"):
        run("stages", "news", "--remove", "ask")
    assert "rate" not in run("stages", "news", "--remove", "rate")
