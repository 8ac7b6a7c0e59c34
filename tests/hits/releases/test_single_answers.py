"""Single answers are in a release where the lead states it, and of test never."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hits.models import Label, Project, Stage, Worker
from hits.recipes.source import ToldItem
from hits.releases.rules import single_answers
from hits.releases.verbs import releasing, withdrawing
from tests.benchmarks.cosmos_fill import fill
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.said import say

pytestmark = pytest.mark.django_db


def lines(stream: Any) -> list[dict[str, Any]]:
    stream.seek(0)
    return [json.loads(line) for line in stream]


def rows(project: Project) -> list[dict[str, Any]]:
    made, _ = releasing.release(project, None)
    file = made.files.filter(name="single_answers.jsonl").first()
    return [json.loads(line) for line in file.blob.read().splitlines()] if file else []


def test_every_answer_that_counts_to_train_and_dev_is_told_when_the_lead_says_so() -> None:
    project = fill(80)
    project.options |= {
        "best_written": 1,
        "best_kept_share": 0.5,
        "test_sets": 16,
        "dev_sets": 8,
        "held_out_share": 0.6,
    }
    project.save()
    assert rows(project) == []
    withdrawing.change_card(project, {"single_answers": "released"}, None)
    told = rows(project)
    made = project.releases.order_by("-number").first()
    assert made is not None
    test = [json.loads(line) for line in made.files.get(name="test.jsonl").blob.read().splitlines()]
    asked = {row["item"] for row in told}
    assert {row["split"] for row in told} == {"train", "dev"} and test and not asked & {row["id"] for row in test}
    labels = Label.objects.counting().filter(item__stage__key="validate", item__key__in=asked)
    assert len(told) == labels.count() > 0
    assert 'config_name: "single_answers"' in made.files.get(name="README.md").blob.read().decode()
    workers = {row["worker"] for row in told}
    assert len(workers) == labels.values("worker").distinct().count()
    assert not workers & set(Worker.objects.values_list("worker_id", flat=True))


def test_answers_that_do_not_count_and_groups_that_are_not_told_are_left_out() -> None:
    stage: Stage = make.stage(make.project(recipe="choice"), key="choose", protocol="multiple_choice")
    say(stage, [{"ann": "yes", "ben": "no"}, {"ann": {"q1/choice": "a", "q2/choice": "b"}}])
    stage.labels.filter(worker__worker_id="ABEN").update(void=True)
    told = {"choose": lambda: iter([ToldItem("item-1", "dev"), ToldItem("item-2", "train", frozenset({"q2"}))])}
    files, tables = single_answers.files_of(stage.project, told)
    found = [(row["split"], row["item"], row["unit"], row["value"]) for row in lines(files["single_answers.jsonl"])]
    assert found == [("dev", "item-1", "choice", "yes"), ("train", "item-2", "q2/choice", "b")]
    assert tables == {"single_answers": {"dev": "single_answers-dev.parquet", "train": "single_answers-train.parquet"}}


def test_a_recipe_that_has_them_in_a_file_of_its_own_has_them_once() -> None:
    stage = make.stage(make.project(recipe="choice"), key="choose", protocol="multiple_choice")
    say(stage, [{"ann": "yes", "ben": "yes"}])
    stage.items.update(state="kept")
    withdrawing.change_card(stage.project, {"single_answers": "released"}, None)
    made, _ = releasing.release(stage.project, None)
    names = set(made.files.values_list("name", flat=True))
    assert "annotations.parquet" in names and not any("single_answers" in name for name in names)


def test_another_word_than_released_is_refused() -> None:
    with refused("release_card_refused", match="single_answers must be “released” or empty"):
        withdrawing.change_card(make.project(), {"single_answers": "perhaps"}, None)
