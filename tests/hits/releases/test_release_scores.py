"""What a manifest says was measured goes by the same answers as the votes that are released."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from hits.judging.verbs import deciding
from hits.models import Assignment, Item, Project
from hits.releases.verbs import releasing
from tests.hits import factories as make
from tests.hits.said import computed, say

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """Two answers an item are wanted, and three were given: the first two of the first item differ."""
    found = make.project(recipe="choice")
    rule = {"name": "measured", "version": 1, "params": {"answers": 2}}
    stage = make.stage(found, key="choose", title="Choose", protocol="multiple_choice", answers=2, rule=rule)
    say(stage, [{"ann": "no", "ben": "yes", "cleo": "yes"}, {"ann": "yes", "ben": "yes", "cleo": "no"}, {"ann": "no"}])
    stage.labels.update(correct=False)
    stage.labels.filter(value="yes").update(correct=True)
    for number, answer in enumerate(Assignment.objects.order_by("pk")):
        answer.submitted_at += timedelta(minutes=number)
        answer.save()
    stage.items.update(stale=True)
    deciding.decide(stage)
    return found


def test_spare_answers_are_measured_as_they_are_released(project: Project) -> None:
    made, _ = releasing.release(project, None)
    lines = made.files.get(name="items.jsonl").blob.read().splitlines()
    votes = [json.loads(line) for line in lines]
    assert [row["votes"] for row in votes] == [{"Yes": 2, "No": 1}, {"Yes": 2, "No": 1}]
    right = sum(row["majority"] == ["Yes"] for row in votes)
    scores = made.manifest["scores"]["choose"]
    assert scores["answers"] == sum(row["answers"] for row in votes) == 6
    assert (scores["majority"], scores["ties"], scores["n"]) == (100.0 * right / 2, 0, 2)
    # Aggregation reads the same answers.
    report: Any = computed(project.stages.get())
    assert report["units"][0]["answers"] == 7
    # The third item wants another answer: it is not released and not measured.
    assert project.stages.get().items.filter(state=Item.State.KEPT).count() == 2
