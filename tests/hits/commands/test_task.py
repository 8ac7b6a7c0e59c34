"""The task of a stage on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management.base import CommandError

from hits.models import Stage
from hits.protocols.labelling.protocol import protocol
from tests.hits import factories as make
from tests.hits.commands.conftest import Run, logged

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage() -> Stage:
    columns = {"hit_title": "Old title", "hit_description": "Old text", "settings": protocol.settings({})}
    return make.stage(make.project(slug="river"), key="label", protocol="labelling", **columns)


def test_the_task_is_shown_with_what_each_setting_means(run: Run, stage: Stage) -> None:
    said = run("task", "river", "label")
    assert "title = Old title\ndescription = Old text\n" in said
    assert all(f"\n{one.name} = " in said and one.label in said for one in protocol.fields)
    assert "no longer change" not in said and logged(stage.project) == []


def test_what_is_given_is_changed_and_the_rest_stays(run: Run, stage: Stage) -> None:
    change = ("task", "river", "label", "--title", "New title", "--set", "question=What kind is it?")
    said = run(*change, "--set", 'labels=["Fact", "Cause"]')
    assert "title = New title" in said and 'question = "What kind is it?"' in said
    stage.refresh_from_db()
    assert (stage.hit_title, stage.hit_description, stage.settings["question"]) == (
        "New title", "Old text", "What kind is it?",
    )  # fmt: skip
    assert [label["id"] for label in stage.settings["labels"]] == ["fact", "cause"]
    run(*change)
    assert logged(stage.project) == ["changed the task"], "the second time nothing was different"
    assert stage.actions.get().detail == {"changed": ["hit_title", "settings"]}


def test_a_setting_may_stand_in_a_file(run: Run, stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "labels.json"
    file.write_text('["Fact", "Cause"]', encoding="utf-8")
    run("task", "river", "label", "--set", f"labels=@{file}")
    stage.refresh_from_db()
    assert [label["text"] for label in stage.settings["labels"]] == ["Fact", "Cause"]
    with pytest.raises(CommandError, match="cannot be read"):
        run("task", "river", "label", "--set", f"labels=@{tmp_path}/none.json")


def test_a_refusal_names_every_fault_and_changes_nothing(run: Run, stage: Stage) -> None:
    wrong = ["--title", " ", "--description", "New text", "--set", "colour=red", "--set", 'labels=["One"]']
    with pytest.raises(CommandError, match="hit_title must not be blank.*colour|colour.*hit_title must not be blank"):
        run("task", "river", "label", *wrong)
    with pytest.raises(CommandError, match="not of the form name=value"):
        run("task", "river", "label", "--title", "New title", "--set", "question")
    make.hit(make.item(stage))
    with pytest.raises(CommandError, match="is published as it stands"):
        run("task", "river", "label", "--title", "New title")
    assert "It is published, so it can no longer change." in run("task", "river", "label")
    before = (stage.hit_title, stage.hit_description, stage.settings)
    stage.refresh_from_db()
    assert (stage.hit_title, stage.hit_description, stage.settings) == before and logged(stage.project) == []


def test_a_stage_without_a_crowd_has_no_task(run: Run, stage: Stage) -> None:
    make.stage(stage.project, key="generate", protocol="passage_queries", crowd=False, rule={})
    with pytest.raises(CommandError, match="Nobody is asked"):
        run("task", "river", "generate")
