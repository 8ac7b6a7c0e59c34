"""Starting a project and filling it."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError

from hits.domain.summaries import refresh_summary
from hits.models import Account, Item, Project, Stage, Upload
from hits.recipes import load
from tests.hits import factories
from tests.hits.commands.conftest import Run
from tests.hits.flow.conftest import example, lines

NEW = ("create_project", "Harbour", "--recipe", "record", "--email", "lab@example.org", "--owner", "lena")


def test_a_project_starts_as_it_was_asked_for(run: Run, project: Project) -> None:
    assert (project.name, project.seed, project.options) == ("River", 3, {**load("record").options, "eval_share": 0})
    assert project.account.budget == Decimal("20.00")
    assert [user.username for user in project.owners.all()] == ["lena"]


def test_the_first_stage_may_ask_several_workers(run: Run, db: None) -> None:
    factories.user("lena")
    slug = run(*NEW, "--budget", "5", "--answers", "3", "--need", "2").strip()
    stage = Stage.objects.get(project__slug=slug, key="validate")
    assert (stage.answers, stage.rule["params"]) == (3, {"need": 2, "answers": 3})


def test_the_budget_is_shown_and_changed_and_a_large_change_asks_first(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Budget    $20.00" in run("budget", "river")
    assert "$20.00 to $40.00" in run("budget", "river", "40")
    monkeypatch.setattr("builtins.input", lambda question: "")
    with pytest.raises(CommandError, match="Nothing was changed"):
        run("budget", "river", "4000")
    assert Account.objects.get().budget == Decimal("40.00")
    assert "$40.00 to $4,000.00" in run("budget", "river", "4000", "--yes")
    assert "$40.00 to $4,000.00, on the command line by " in run("budget", "river")
    with pytest.raises(CommandError, match="dollars and cents"):
        run("budget", "river", "4.005")
    Account.objects.update(reserved=30)
    with pytest.raises(CommandError, match="cannot be lower"):
        run("budget", "river", "20", "--yes")
    assert Account.objects.get().budget == Decimal("4000.00")


def test_the_options_are_told_with_their_meaning_and_changed(run: Run, db: None) -> None:
    factories.user("lena")
    slug = run(*NEW[:3], "cosmos", *NEW[4:], "--budget", "5").strip()
    told = run("options", slug, "--set", "none_share=0.5")
    assert "none_share = 0.5\n" in told and "Paper: 0.7 (section 2.4)." in told
    assert Project.objects.get().options["none_share"] == 0.5
    with pytest.raises(CommandError, match="between 0 and 1"):
        run("options", slug, "--set", "none_share=5")


def _words(told: str) -> str:
    return " ".join(told.split())


def test_what_goes_on_by_itself_and_the_pay_of_a_stage_are_told_and_changed(
    run: Run, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    factories.user("lena")
    slug = run(*NEW[:3], "cosmos", *NEW[4:], "--budget", "5").strip()
    told = run("stage", slug, "write")
    assert "reward 0.70" in _words(told) and "advance-approved yes" in _words(told)
    given = ("--set", "reward=0.80", "--set", "expected_seconds=200", "--set", "requirements=[]")
    told = _words(run("stage", slug, "write", "--no-advance-approved", *given))
    for said in ("reward 0.80 (recipe: 0.70)", "advance-approved no", "expected_seconds 200", "requirements []"):
        assert said in told
    assert not Stage.objects.get(key="write").advance_approved
    assert "reward 0.70" in _words(run("stage", slug, "write", "--recipe-value", "reward"))
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "")
    with pytest.raises(CommandError, match="from 0.70 to 7.00.*has to be confirmed"):
        run("stage", slug, "write", "--set", "reward=7.00")
    assert len(asked) == 1 and "reward 0.70" in _words(run("stage", slug, "write"))
    assert "reward 7.00" in _words(run("stage", slug, "write", "--set", "reward=7.00", "--yes"))
    for wrong in ("reward=-1", "expected_seconds=-1", "answers=many", "reward"):
        with pytest.raises(CommandError, match="must be|takes NAME=VALUE"):
            run("stage", slug, "write", "--set", wrong)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--budget", "5", "--owner", "nobody"), "no user 'nobody'"),
        (("--budget", "5", "--recipe", "nope"), "no recipe of this name"),
        (("--budget", "5", "--option", "evil_share=1"), "no option 'evil_share'"),
        (("--budget", "5", "--email", "nowhere"), "no e-mail address"),
        (
            (
                "--budget",
                "5.001",
            ),
            "not dollars and cents",
        ),
        (("--budget", "5", "--answers", "2", "--need", "3"), "cannot hold 3 right"),
        (("--budget", "5", "--need", "3"), "--need goes with --answers"),
    ],
)
def test_wrong_words_make_no_project(run: Run, db: None, arguments: tuple[str, ...], reason: str) -> None:
    factories.user("lena")
    with pytest.raises(CommandError, match=reason):
        run(*NEW, *arguments)
    assert not Project.objects.exists()


def test_an_unknown_project_or_stage_names_what_is_there(run: Run, project: Project) -> None:
    with pytest.raises(CommandError, match="There are: river"):
        run("status", "lake")
    with pytest.raises(CommandError, match="There are: generate, validate, revalidate, human, reasoning"):
        run("pause", "river", "nope")


def test_a_file_comes_in_whole(run: Run, project: Project, tmp_path: Path) -> None:
    file = tmp_path / "river.jsonl"
    file.write_bytes(lines([example(n) for n in range(4)]))
    said = run("import_file", "river", file, "--origin", "crawled")
    assert "Imported 4 items of 4 documents" in said
    assert set(project.documents.values_list("origin", flat=True)) == {"crawled"}


def test_every_fault_is_printed_with_its_line_and_nothing_comes_in(
    run: Run, project: Project, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broken.jsonl"
    broken = json.dumps({**example(2), "qas": []})
    file.write_bytes(lines([example(0)]) + b"\n{not json}\n" + broken.encode())
    with pytest.raises(CommandError, match="2 faults in broken.jsonl. Nothing was imported.") as refused:
        run("import_file", "river", file)
    assert refused.value.returncode == 1
    assert not Item.objects.exists()
    assert [fault["line"] for fault in Upload.objects.get().faults] == [2, 3]


def test_a_file_that_is_too_large_is_refused_by_its_size(
    run: Run, project: Project, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MAX_IMPORT_BYTES = 1_000_000
    file = tmp_path / "huge.jsonl"
    with file.open("wb") as huge:
        huge.truncate(1_000_001)
    monkeypatch.setattr(Path, "read_bytes", lambda self: pytest.fail("it was read"))
    with pytest.raises(CommandError, match="at most 1.0 MB"):
        run("import_file", "river", file)
    assert not Upload.objects.exists()


def test_a_file_that_is_not_there_is_said_to_be(run: Run, project: Project, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        run("import_file", "river", tmp_path / "none.jsonl")


def test_the_status_says_where_everything_is(run: Run, filled: Project) -> None:
    found = json.loads(run("status", "river", "--json"))
    assert found["account"] == {"budget": "20.00", "reserved": "0.00", "paid": "0.00", "left": "20.00"}
    assert [(one["key"], one["items"], one["waiting"]) for one in found["stages"][:2]] == [
        ("generate", 0, 0),
        ("validate", 3, 3),
    ]
    said = run("status", "river")
    assert "left $20.00" in said and "validate" in said


def test_a_live_stage_is_finished_once_nothing_of_it_is_left_to_do(run: Run, filled: Project) -> None:
    stages = filled.stages.filter(key="validate")
    stages.update(state=Stage.State.LIVE)
    assert stages.get().state_in_words == "Live" and "live" in run("status", "river")
    Item.objects.filter(stage__in=stages).update(state=Item.State.KEPT)
    refresh_summary(stages.get())
    assert stages.get().state_in_words == "Finished" and "finished" in run("status", "river")
    stages.update(state=Stage.State.PAUSED)
    assert stages.get().state_in_words == "Paused"


def test_an_import_is_stopped_by_its_number(run: Run, project: Project) -> None:
    waiting = factories.upload(project, state=Upload.State.QUEUED)
    assert "Waiting" in run("stop_import", "river")
    assert "Nothing of articles.json was imported" in run("stop_import", "river", str(waiting.pk))
    with pytest.raises(CommandError, match="stopped, nothing imported"):
        run("stop_import", "river", str(waiting.pk))
    with pytest.raises(CommandError, match="no import 999"):
        run("stop_import", "river", "999")


def test_a_project_is_written_as_a_file_started_from_it_and_cloned(run: Run, db: None, tmp_path: Path) -> None:
    factories.user("lena")
    rest = ("--budget", "5", "--owner", "lena", "--email", "lab@example.org")
    slug = run("create_project", "Own", "--recipe", "choice", *rest).strip()
    run("stage", slug, "choose", "--set", "reward=0.11")
    file = tmp_path / "own.toml"
    file.write_text(run("recipe_file", slug), encoding="utf-8")
    made = run("create_project", "By file", "--file", str(file), *rest).strip()
    copy = run("create_project", "Copy", "--clone", slug, "--items", *rest[:-1], "copies@example.org").strip()
    assert Project.objects.get(slug=copy).contact_email == "copies@example.org"
    assert [str(Stage.objects.get(project__slug=one).reward) for one in (made, copy)] == ["0.11", "0.11"]
    file.write_text("annotate = 7", encoding="utf-8")
    for wrong in (["--file", str(file)], ["--file", "/nowhere"], ["--clone", "nobody"]):
        with pytest.raises(CommandError, match="annotate must be 1|cannot be read|There is no project"):
            run("create_project", "X", *wrong, *rest)
