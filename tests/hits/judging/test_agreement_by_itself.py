"""The agreement of a stage is computed by the job that concludes its answers."""

from __future__ import annotations

import pytest

from hits import tasks
from hits.judging.rules import stage_statistics
from hits.judging.rules.summaries import refresh_summary
from hits.models import ComputationRun, Label, Stage
from tests.hits import factories as make
from tests.hits.said import say

pytestmark = pytest.mark.django_db
ROW = {"ann": "yes", "ben": "yes", "cleo": "no"}


def concluded(stage: Stage) -> list[str]:
    refresh_summary(stage)
    tasks.conclude_stage(stage.pk)
    return list(stage.project.computation_runs.order_by("pk").values_list("state", flat=True))


def test_thirty_answers_are_enough_and_then_thirty_more(eager: None) -> None:
    stage = make.stage(make.project(recipe="choice"), key="choose", protocol="multiple_choice")
    done = ComputationRun.State.DONE
    say(stage, [ROW] * 9)
    assert concluded(stage) == []
    say(stage, [ROW])
    assert concluded(stage) == [done]
    run = stage_statistics.newest(stage)
    assert run and stage_statistics.report_of(run)["harvested"] == 30 and run.created_by is None
    say(stage, [ROW] * 9)
    assert concluded(stage) == [done]
    say(stage, [ROW])
    assert concluded(stage) == [done, done]


def test_a_block_has_it_computed_again_over_the_answers_that_still_count(eager: None) -> None:
    stage = make.stage(make.project(recipe="choice"), key="choose", protocol="multiple_choice")
    say(stage, [ROW])
    refresh_summary(stage)
    tasks.conclude_project(stage.project_id)
    assert not stage.project.computation_runs.exists(), "nothing was computed that could be out of date"
    say(stage, [ROW] * 9)
    assert len(concluded(stage)) == 1
    tasks.conclude_project(stage.project_id)
    assert len(concluded(stage)) == 1, "the same answers count"
    Label.objects.filter(stage=stage, worker__worker_id="ACLEO").update(void=True)
    tasks.conclude_project(stage.project_id)
    newest = stage_statistics.newest(stage)
    assert len(concluded(stage)) == 2 and newest is not None
    assert not stage_statistics.is_older(newest, stage)
