"""`manage.py models` and `manage.py people_and_models`."""

from __future__ import annotations

import re

import pytest
from django.core.management.base import CommandError
from rest_framework.test import APIClient

from hits.flow.pipeline import model_answering
from hits.flow.setup import model_annotators
from hits.models import ModelAnnotator, Routing, Stage
from tests.hits import factories as make
from tests.hits import models_that_answer as asked
from tests.hits.commands.conftest import Run, logged

pytestmark = pytest.mark.django_db


@pytest.fixture
def asking(db: None) -> Stage:
    return asked.stage(make.project(slug="river", recipe="choice", seed=3), key="choose")


def test_a_model_is_registered_listed_and_ended(run: Run, asking: Stage) -> None:
    said = run("models", "river", "--register", "small-bert", "2", "--cost", "0.0004")
    row = ModelAnnotator.objects.get()
    token = re.findall(r"model_[\w-]{43}", said)[0]
    client = APIClient(headers={"Authorization": f"Model {token}"})
    assert client.get("/api/model/").status_code == 200
    assert f"{row.pk}  small-bert        2  $0.000400  answers" in run("models", "river")
    assert token not in run("models", "river")
    assert "small-bert 2 has ended." in run("models", "river", "--end", row.pk)
    assert client.get("/api/model/").status_code == 401
    assert logged(asking.project) == ["registered a model", "ended a model"]


def test_items_that_it_was_given_too_often_are_given_again(run: Run, asking: Stage) -> None:
    row = asked.model(asking.project)
    asked.items(asking, 2)
    asked.given_too_often(row, asking)
    assert re.search(r"answers +2\n", run("models", "river"))
    said = run("models", "river", "--give-again", row.pk)
    assert "2 items are given to small-bert 1 again." in said and re.search(r"answers +0\n", said)
    assert len(model_answering.take(row, asking, 5, 60)) == 2
    assert asking.project.actions.latest("id").detail == {"model": "small-bert 1", "items": 2}
    model_annotators.end(row, None)
    with pytest.raises(CommandError, match="small-bert 1 has ended already"):
        run("models", "river", "--give-again", row.pk)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--register", " ", "1"], "The name of a model is empty."),
        (["--register", "a" * 61, "1"], "The name of a model has 61 characters, the limit is 60."),
        (["--register", "a\u202eb", "1"], "The name of a model holds a character that cannot be seen (U+202E)"),
        (["--register", "bert", "1\u200b"], "The version of a model holds a character that cannot be seen (U+200B)"),
        (["--register", "bert", "1", "--cost", "much"], "'much' is no amount in dollars"),
        (["--register", "bert", "1", "--cost", "-1"], "The cost of an answer is"),
        (["--register", "bert", "1", "--cost", "0.0000001"], "at most six decimals"),
        (["--cost", "1"], "--cost goes with --register"),
        (["--end", "999999"], "river has no model 999999"),
        (["--give-again", "999999"], "river has no model 999999"),
    ],
)
def test_what_is_no_model_is_refused(run: Run, asking: Stage, arguments: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=re.escape(sentence)):
        run("models", "river", *arguments)
    assert not ModelAnnotator.objects.exists()


def test_models_are_compared_previewed_let_decide_and_undone(run: Run, asking: Stage) -> None:
    model = asked.model(asking.project)
    for row in asked.items(asking, 10):
        asked.says(model, row, "yes")
    common = ["people_and_models", "river", "choose"]
    said = run(*common)
    assert "small-bert 1       10" in said and "routing" not in said
    previewed = (
        "Of 10 items that could be published the models decide 9, which saves $1.35; 1 goes to people, among them 1"
    )
    assert previewed in run(*common, "--preview", "--models", model.pk)
    assert not Routing.objects.exists()
    said = run(*common, "--route", "--yes", "--models", model.pk)
    row = Routing.objects.get()
    assert previewed in said and re.search(rf"{row.pk} +9 +1 +\$1.35 +stands", said)
    assert asking.items.filter(state="kept").count() == 9
    assert "9 items go to people, 0 stay decided." in run(*common, "--undo", row.pk)
    assert asking.items.filter(state="new").count() == 10


def test_nobody_who_agrees_is_a_no(run: Run, asking: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    model = asked.model(asking.project)
    for row in asked.items(asking, 3):
        asked.says(model, row, "yes")
    monkeypatch.setattr("builtins.input", lambda _: "n")
    with pytest.raises(CommandError, match="Nothing was changed"):
        run("people_and_models", "river", "choose", "--route", "--models", model.pk)
    with pytest.raises(CommandError, match="Choose at least one model"):
        run("people_and_models", "river", "choose", "--preview")
    with pytest.raises(CommandError, match="has no routing 5"):
        run("people_and_models", "river", "choose", "--undo", 5)
    assert not Routing.objects.exists()
