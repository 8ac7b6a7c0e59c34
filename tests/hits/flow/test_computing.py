"""Computations survive a crash, stop when told to, and say why they failed."""

from __future__ import annotations

from typing import Any

import pytest

from hits.flow import computing
from hits.flow.collecting import Rows
from hits.models import ComputationRun, Project
from hits.recipes.source import Computation
from tests.hits import factories
from tests.hits.small_recipe import small_project, small_recipe

pytestmark = pytest.mark.django_db
State = ComputationRun.State
__all__ = ["small_recipe"]


@pytest.fixture
def project(small_recipe: str) -> Project:
    return small_project(factories.user("lena"))


def started(project: Project, **params: Any) -> ComputationRun:
    return computing.start(project, "words", params, None)


def found(project: Project) -> list[int]:
    return [data["words"] for _, data in Rows(project).found("words")]


def test_a_run_keeps_its_log_and_its_results_appear_at_its_end(project: Project) -> None:
    run = started(project)
    assert (run.state, found(project)) == (State.QUEUED, [])
    assert computing.run(run.pk) == 3
    run.refresh_from_db()
    assert (run.state, run.done, run.total, run.items) == (State.DONE, 3, 3, 3)
    assert [entry["read"] for entry in run.log] == [1, 2, 3]
    assert found(project) == [5, 5, 5]
    assert computing.run(run.pk) == 0
    assert run.results.count() == 3


def test_a_second_run_replaces_the_first_and_leaves_its_rows(project: Project) -> None:
    for times in (1, 2):
        computing.run(started(project, times=times).pk)
    assert found(project) == [10, 10, 10]
    assert [run.results.count() for run in project.computation_runs.all()] == [3, 3]


def test_after_a_crash_it_goes_on_from_its_checkpoint(project: Project) -> None:
    run = started(project, crash_at=1)
    with pytest.raises(SystemExit):
        computing.run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.checkpoint, found(project)) == (State.RUNNING, {"step": 1}, [])
    assert computing.unfinished() == [run.pk]
    assert computing.run(run.pk) == 3
    run.refresh_from_db()
    # Each step is in the log once: the first was not done again.
    assert [entry["read"] for entry in run.log] == [1, 2, 3]
    assert found(project) == [5, 5, 5]
    assert computing.unfinished() == []


def test_a_stopped_run_ends_at_its_next_sign_of_progress_and_keeps_the_results_before_it(project: Project) -> None:
    computing.run(started(project).pk)
    run = started(project, times=7, stop_at=1)
    assert computing.run(run.pk) == 0
    run.refresh_from_db()
    assert (run.state, run.done, run.results.count()) == (State.STOPPED, 1, 0)
    assert found(project) == [5, 5, 5]


def test_a_run_that_is_stopped_before_its_turn_never_begins(project: Project) -> None:
    run = started(project)
    computing.stop(run)
    assert computing.run(run.pk) == 0
    run.refresh_from_db()
    assert (run.state, run.done) == (State.STOPPED, 0)
    assert run.finished_at is not None
    computing.stop(run)


def test_a_failed_run_says_why(project: Project) -> None:
    run = started(project, fail_at=1)
    with pytest.raises(ValueError, match="second text"):
        computing.run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.error) == (State.FAILED, "the second text is empty")
    assert computing.unfinished() == []
    assert started(project).state == State.QUEUED


def test_one_run_of_a_computation_at_a_time(project: Project) -> None:
    run = started(project)
    with pytest.raises(computing.ComputationRefusedError, match="running already"):
        started(project)
    computing.stop(run)
    started(project)


def test_every_wrong_parameter_is_named_and_nothing_starts(project: Project) -> None:
    with pytest.raises(computing.ComputationRefusedError) as refused:
        started(project, times="twice", speed=3)
    assert "speed" in str(refused.value) and "times must be like 1" in str(refused.value)
    with pytest.raises(computing.ComputationRefusedError, match="there are: words"):
        computing.start(project, "nothing", {}, None)
    assert not ComputationRun.objects.exists()


def test_only_one_process_computes_a_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    run, others = started(project), []
    advance = computing._advance

    def meanwhile(*given: Any) -> None:
        others.append(computing.run(run.pk))
        advance(*given)

    monkeypatch.setattr(computing, "_advance", meanwhile)
    assert computing.run(run.pk) == 3
    assert others == [0, 0, 0]


def test_a_recipe_that_computes_nothing_has_no_computation(db: None) -> None:
    assert computing.computations(factories.project(recipe="record")) == []


def test_what_a_recipe_computes_is_listed_in_its_order(project: Project) -> None:
    (words,) = computing.computations(project)
    assert isinstance(words, Computation)
    assert (words.key, words.stage, words.params["times"]) == ("words", "judge", 1)
