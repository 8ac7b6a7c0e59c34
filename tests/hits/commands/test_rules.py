"""Rules, computations and draws as a lead types them."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from hits.flow.pipeline import computing, deciding
from hits.models import ComputationRun, Item, Project, RuleEdition, Stage
from tests.hits import factories
from tests.hits.commands.conftest import Run, logged
from tests.hits.small_recipe import answered, small_project, small_recipe

__all__ = ["small_recipe"]
OLD = "valid: at least 2 label = good\notherwise: drop\n"
NEW = "valid: at least 1 label = good\notherwise: drop\n"


@pytest.fixture
def judged(db: None) -> Stage:
    rule = {"name": "conditions", "version": 1, "params": {"answers": 3, "text": OLD}}
    stage = factories.stage(factories.project(slug="river"), key="judge", answers=3, rule=rule)
    for number, labels in enumerate((["good"] * 3, ["good", "bad", "bad"])):
        answered(stage, *[{"label": label} for label in labels], key=f"set-{number}")
    deciding.decide(stage)
    return stage


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rule.txt"
    path.write_text(NEW)
    return path


def test_the_rule_is_shown_and_another_one_tried_without_saving(run: Run, judged: Stage, file: Path) -> None:
    assert "valid: at least 2 label = good" in run("rule", "river", "judge", "show")
    said = run("rule", "river", "judge", "try", file)
    assert "1 of 2 items move" in said and "1 dropped -> valid, such as set-1" in said
    assert not RuleEdition.objects.exists()


def test_a_rule_is_set_after_asking_and_judges_at_once(
    run: Run, judged: Stage, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    with pytest.raises(CommandError, match="Nothing was saved"):
        run("rule", "river", "judge", "set", file)
    said = run("rule", "river", "judge", "set", file, "--yes", "--note", "One is enough")
    assert "Rule 2 is in force. 1 item changed label." in said
    assert Item.objects.filter(conclusion="valid").count() == 2
    assert "One is enough" in run("rule", "river", "judge", "show")
    with pytest.raises(CommandError, match="very rule"):
        run("rule", "river", "judge", "set", file, "--yes")


def test_a_wrong_file_is_refused_with_every_fault(run: Run, judged: Stage, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("valid: perhaps\nvalid: all label = good\n")
    with pytest.raises(CommandError, match="line 1, column 8.*line 2"):
        run("rule", "river", "judge", "try", wrong)
    with pytest.raises(CommandError, match="cannot be read"):
        run("rule", "river", "judge", "set", tmp_path / "nowhere.txt")
    with pytest.raises(CommandError, match="Name the file"):
        run("rule", "river", "judge", "try")
    wrong.write_text("valid: all lable = good\notherwise: drop")
    assert "did you mean label?" in run("rule", "river", "judge", "try", wrong)


@pytest.fixture
def small(small_recipe: str, db: None) -> Project:
    return small_project(factories.user("lena"))


def test_a_computation_is_listed_and_run_here(run: Run, small: Project) -> None:
    assert "words" in run("compute", "small")
    said = run("compute", "small", "words", "--param", "times=2")
    assert "read 3" in said and "words: done, 3 items with a result." in said
    with pytest.raises(CommandError, match="must be like 1"):
        run("compute", "small", "words", "--param", "times=often")
    with pytest.raises(CommandError, match="second text is empty.*stand"):
        run("compute", "small", "words", "--param", "fail_at=1")


def test_a_broken_run_goes_on_and_no_other(run: Run, small: Project) -> None:
    with pytest.raises(CommandError, match="words has never run"):
        run("compute", "small", "words", "--resume")
    with pytest.raises(CommandError, match="second text is empty"):
        run("compute", "small", "words", "--param", "fail_at=2")
    small.computation_runs.update(params={"times": 1, "crash_at": -1, "fail_at": -1, "stop_at": -1, "model": "plain"})
    said = run("compute", "small", "words", "--resume")
    assert said.count("read 1") == 1 and "words: done, 3 items with a result." in said
    with pytest.raises(CommandError, match="Start anew"):
        run("compute", "small", "words", "--resume")


def test_a_run_that_waits_is_stopped_once_and_goes_on_later(run: Run, small: Project) -> None:
    with pytest.raises(CommandError, match="words has never run"):
        run("compute", "small", "words", "--stop")
    with pytest.raises(CommandError, match="Say which computation"):
        run("compute", "small", "--stop")
    waiting = computing.start(small, "words", {}, None)
    assert "words is stopped." in run("compute", "small", "words", "--stop")
    waiting.refresh_from_db()
    assert waiting.state == ComputationRun.State.STOPPED
    with pytest.raises(CommandError, match="had ended already: stopped. Nothing was changed"):
        run("compute", "small", "words", "--stop")
    assert logged(small) == ["stopped a computation"]
    assert "words: done, 3 items with a result." in run("compute", "small", "words", "--resume")


def test_a_model_elsewhere_takes_part_by_files(run: Run, small: Project, tmp_path: Path) -> None:
    assert "is written" in run("compute", "small", "words", "--files", str(tmp_path / "out.zip"))
    assert zipfile.ZipFile(tmp_path / "out.zip").namelist() == ["0.json", "1.json", "2.json"]
    keys = small.stages.get(key="judge").items.values_list("key", flat=True)
    (tmp_path / "in.json").write_text(json.dumps(dict.fromkeys(keys, 7)))
    said = run("compute", "small", "words", "--answers", str(tmp_path / "in.json"))
    assert "words: done, 3 items with a result." in said
    (tmp_path / "in.json").write_text('{"x": 1}')
    with pytest.raises(CommandError, match="nothing was imported(.|\n)*x: is no item here"):
        run("compute", "small", "words", "--answers", str(tmp_path / "in.json"))
    with pytest.raises(CommandError, match="cannot be read"):
        run("compute", "small", "words", "--answers", str(tmp_path / "nowhere"))
    with pytest.raises(CommandError, match="cannot be written"):
        run("compute", "small", "words", "--files", str(tmp_path / "nowhere" / "out.zip"))


def test_a_sample_is_drawn_after_saying_how_many_there_are(run: Run, small: Project) -> None:
    said = run("draw", "small", "sample", "--yes")
    assert "2 items to sample from, 0 in sample already." in said and "2 new items sampled" in said
    assert "0 new items" in run("draw", "small", "sample", "--items", "1", "--yes")
    with pytest.raises(CommandError, match="not by a sample"):
        run("draw", "small", "judge", "--yes")
