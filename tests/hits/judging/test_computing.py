"""Computations survive a crash, stop when told to, and say why they failed."""

from __future__ import annotations

import io
import json
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError

from hits.judging.rules.recipe_rows import Rows
from hits.judging.verbs import computing
from hits.models import ComputationRun, Project
from hits.projects.verbs import projects
from hits.recipes.source import Computation
from hits.refusals import Refused
from tests.hits import factories
from tests.hits.doing import refused
from tests.hits.small_recipe import small_project, small_recipe

pytestmark = pytest.mark.django_db
State = ComputationRun.State
__all__ = ["small_recipe"]


@pytest.fixture
def project(small_recipe: str) -> Project:
    return small_project(factories.user("lena"))


def started(project: Project, **params: Any) -> ComputationRun:
    return computing.start(project, "words", params, None)


def finished(run: ComputationRun) -> ComputationRun:
    computing.run(run.pk)
    run.refresh_from_db()
    return run


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
    # What was found before the checkpoint is written, and nobody reads it yet.
    assert (run.results.count(), run.concluded.count()) == (1, 0)
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
    assert (run.state, run.done, run.concluded.count()) == (State.STOPPED, 1, 0)
    assert found(project) == [5, 5, 5]


def test_a_run_that_is_stopped_before_its_turn_never_begins(project: Project) -> None:
    run = started(project)
    computing.stop(run, None)
    assert computing.run(run.pk) == 0
    run.refresh_from_db()
    assert (run.state, run.done) == (State.STOPPED, 0)
    assert run.finished_at is not None
    computing.stop(run, None)


def test_a_failed_run_says_why(project: Project) -> None:
    run = started(project, fail_at=1)
    with pytest.raises(ValueError, match="second text"):
        computing.run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.error) == (State.FAILED, "the second text is empty")
    assert computing.unfinished() == []
    assert started(project).state == State.QUEUED


def test_a_run_that_the_database_breaks_off_goes_on_by_itself(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, conclude = started(project), computing._Writing.conclude

    def deadlock(*given: object) -> None:
        raise OperationalError("deadlock detected")

    monkeypatch.setattr(computing._Writing, "conclude", deadlock)
    with pytest.raises(OperationalError):
        computing.run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.error, computing.unfinished()) == (State.RUNNING, "", [run.pk])
    monkeypatch.setattr(computing._Writing, "conclude", conclude)
    assert computing.run(run.pk) == 3 and found(project) == [5, 5, 5]


def test_a_refusal_of_the_step_is_told_to_the_lead_and_is_no_fault_of_the_code(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> None:
        raise Refused("too_little_to_filter", "a classifier needs at least 2 texts")

    monkeypatch.setattr(computing, "_steps", refuse)
    run = finished(started(project))
    assert (run.state, run.error) == (State.FAILED, "a classifier needs at least 2 texts")
    assert run.finished_at is not None


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(28, "No space left", "/srv/annotate/data/run.bin"), "[Errno 28] No space left: 'run.bin'"),
        (ValueError("bad\0 text"), "bad text"),
        (RuntimeError(), "RuntimeError"),
    ],
)
def test_why_a_run_failed_is_never_blank_and_names_no_folder(error: Exception, told: str) -> None:
    assert computing._why(error) == told


def test_one_run_of_a_computation_at_a_time(project: Project) -> None:
    run = started(project)
    with refused("computation_refused", match="running already"):
        started(project)
    computing.stop(run, None)
    started(project)


def test_every_wrong_parameter_is_named_and_nothing_starts(project: Project) -> None:
    with refused("computation_refused") as refusal:
        started(project, times="twice", speed=3)
    assert "speed" in str(refusal.value) and "times must be like 1" in str(refusal.value)
    with refused("computation_refused", match="there are: words"):
        computing.start(project, "nothing", {}, None)
    assert not ComputationRun.objects.exists()


def test_only_one_process_computes_a_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    run, others = started(project), []
    advance = computing._Writing.advance

    def meanwhile(*given: Any) -> None:
        others.append(computing.run(run.pk))
        advance(*given)

    monkeypatch.setattr(computing._Writing, "advance", meanwhile)
    assert computing.run(run.pk) == 3
    assert others == [0, 0, 0]


def test_a_recipe_that_computes_nothing_has_no_computation(db: None) -> None:
    assert computing.computations(factories.project(recipe="record")) == []


def test_what_a_recipe_computes_is_listed_in_its_order(project: Project) -> None:
    (words,) = computing.of_recipe(project)
    assert isinstance(words, Computation)
    assert (words.key, words.stage, words.params["times"]) == ("words", "judge", 1)


def test_a_stopped_run_goes_on_at_its_checkpoint_and_ends_as_one_that_was_never_stopped(project: Project) -> None:
    whole = finished(started(project))
    run = started(project, stop_at=2)
    computing.run(run.pk)
    assert computing.can_resume(run)
    ComputationRun.objects.filter(pk=run.pk).update(params={**run.params, "stop_at": -1})
    computing.resume(run)
    assert computing.unfinished() == [run.pk]
    assert computing.run(run.pk) == 3
    run.refresh_from_db()
    assert (run.state, [entry["read"] for entry in run.log]) == (State.DONE, [1, 2, 3])
    assert list(run.concluded.values_list("item", "data")) == list(whole.concluded.values_list("item", "data"))


def test_a_failed_run_goes_on_and_its_fault_is_forgotten(project: Project) -> None:
    run = started(project, fail_at=2)
    with pytest.raises(ValueError, match="second text"):
        computing.run(run.pk)
    computing.resume(run)
    run.refresh_from_db()
    assert (run.state, run.error, run.finished_at, run.results.count()) == (State.QUEUED, "", None, 2)


@pytest.mark.on_postgresql
def test_only_the_newest_broken_run_goes_on_and_an_older_one_leaves_no_rows(project: Project) -> None:
    older = started(project, stop_at=2)
    computing.run(older.pk)
    assert older.results.count() == 2
    newer = started(project)
    for run in (older, newer):
        assert not computing.can_resume(run)
        with refused("computation_refused", match="Start anew"):
            computing.resume(run)
    assert older.results.count() == 2
    computing.run(newer.pk)
    older.refresh_from_db()
    assert (older.results.count(), older.checkpoint) == (0, None)


@pytest.mark.on_postgresql
def test_what_was_written_after_the_checkpoint_is_made_again(project: Project) -> None:
    run = started(project, crash_at=1)
    with pytest.raises(SystemExit):
        computing.run(run.pk)
    item = project.stages.get(key="judge").items.exclude(results__run=run).first()
    run.results.create(item=item, data={"left": "by the crash"})
    assert [set(data) for data in finished(run).concluded.values_list("data", flat=True)] == [{"words", "by"}] * 3


def test_what_is_found_of_an_item_in_two_parts_is_one_result(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computing, "CHUNK", 1)
    run = finished(started(project, times=2))
    assert [row.data for row in run.concluded.order_by("id")] == [
        {"words": 10, "by": {"plain": number}} for number in range(3)
    ]


def test_dictionaries_of_one_name_are_merged() -> None:
    older, newer = {"queries": {"a": 1, "b": {"x": 1}}, "reader": "old"}, {"queries": {"b": {"y": 2}}, "reader": "new"}
    assert computing._merged(older, newer) == {"queries": {"a": 1, "b": {"x": 1, "y": 2}}, "reader": "new"}


def test_a_choice_and_a_least_number_are_checked_at_the_start(project: Project) -> None:
    with refused("computation_refused") as refusal:
        started(project, model="other", times=0)
    assert "model must be one of plain, stems, not 'other'" in str(refusal.value)
    assert "times must be 1 or more, not 0" in str(refusal.value)
    with refused("computation_refused", match="times must be 9 or less, not 10"):
        started(project, times=10)
    with refused("computation_refused", match="must be one of plain, stems, not 'imported'"):
        started(project, model="imported")


def test_files_for_a_model_elsewhere_are_a_zip_with_the_same_bytes_each_time(project: Project) -> None:
    packed = b"".join(computing.files(project, "words", {"times": 2}))
    assert packed == b"".join(computing.files(project, "words", {"times": 2}))
    archive = zipfile.ZipFile(io.BytesIO(packed))
    assert archive.namelist() == ["0.json", "1.json", "2.json"] and archive.testzip() is None
    assert archive.read("0.json").endswith(b"2")
    with refused("computation_refused", match="must be 1 or more"):
        computing.files(project, "words", {"times": 0})


@pytest.mark.parametrize("recipe", ["record", "cosmos", "mcscript"])
def test_without_enough_data_there_are_no_files_and_the_reason_is_said(recipe: str) -> None:
    project = projects.create_project("Few", recipe, Decimal(10), "lab@example.org", factories.user())
    keys = [one.key for one in computing.computations(project) if one.outside is not None]
    for key in keys:
        with refused("computation_refused", match="There are no files yet: "):
            computing.files(project, key, {})


def brought_in(project: Project, content: dict[str, Any]) -> ComputationRun:
    raw = json.dumps(content).encode()
    return finished(computing.bring_in(project, "words", {}, "out.json", io.BytesIO(raw), len(raw), None))


def test_what_a_model_elsewhere_made_becomes_a_finished_run_that_names_the_file(project: Project) -> None:
    keys = project.stages.get(key="judge").items.values_list("key", flat=True)
    run = brought_in(project, dict.fromkeys(keys, 9))
    assert (run.state, run.items, found(project)) == (State.DONE, 3, [9, 9, 9])
    assert (run.params["model"], run.params["file"], len(run.params["sha256"])) == ("imported", "out.json", 64)


def test_a_file_with_faults_is_refused_with_all_of_them_and_leaves_nothing(project: Project) -> None:
    (first, *_) = project.stages.get(key="judge").items.order_by("document__key").values_list("key", flat=True)
    run = brought_in(project, {first: 9, "x1": 1, "x2": 2})
    assert (run.state, run.results.count(), found(project)) == (State.FAILED, 0, [])
    assert run.error.count("has no answer") == 2 and run.error.count("is no item here") == 2
    assert "nothing was imported" in run.error
    assert not computing.can_resume(run)
    for size in (0, 10**12):
        with refused("computation_refused", match="must hold something"):
            computing.bring_in(project, "words", {}, "out.json", io.BytesIO(b""), size, None)


def test_an_installation_s_models_are_among_the_choices(
    project: Project, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hits.text.readers import READERS

    (tmp_path / "readers").mkdir()
    (tmp_path / "readers" / "own.py").write_text("LABEL, VERSION, make = 'our own', '1', None")
    (words,) = computing.of_recipe(project)
    computed = computing._with_models(computing.replace(words, models={"model": READERS}))
    assert computed.options["model"].choices["own"] == "our own"
    assert "linear" in computed.options["model"].choices
