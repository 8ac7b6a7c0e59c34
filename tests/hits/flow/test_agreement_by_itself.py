"""The agreement of a stage is computed by the job that concludes its answers."""

from __future__ import annotations

import pytest

from hits import tasks
from hits.domain import stage_statistics
from hits.domain.summaries import refresh_summary
from hits.models import ComputationRun, Stage
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
