"""Qualification tests from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from hits.domain.marketplace_account import gateway
from hits.models import Project, QualificationTest
from tests.hits import factories as make
from tests.hits.commands.conftest import Run, logged
from tests.hits.market import Marketplace

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def river(db: None) -> Project:
    return make.project(slug="river")


def test_a_test_is_made_offered_and_its_results_shown(
    run: Run, river: Project, market: Marketplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda question: "n")
    file = tmp_path / "test.json"
    file.write_text(json.dumps(make.known_questions(3)))
    named = ["--title", "Reading", "--description", "Opens a stage."]
    assert "a draft of 3 questions" in run(
        "qualification_tests", "river", "make", "reading-test", *named, "--file", file
    )
    with pytest.raises(CommandError, match="Nothing was offered"):
        run("qualification_tests", "river", "offer", "reading-test")
    assert "reading-test: Offered." in run("qualification_tests", "river", "offer", "reading-test", "--yes")
    test = river.qualification_tests.get()
    worker = market.sign_up_worker()
    gateway().grant(test.qualification_type_id, worker, 67)
    said = run("qualification_tests", "river", "results", "reading-test")
    assert "0 of 1 passed." in said and worker in said and "67%" in said
    assert "reading-test  Offered          3        80%  0 of 1" in run("qualification_tests", "river")
    assert "Withdrawn" in run("qualification_tests", "river", "withdraw", "reading-test")


def test_a_bad_file_makes_nothing(run: Run, river: Project, tmp_path: Path) -> None:
    file = tmp_path / "test.csv"
    file.write_text("question,right,choice1,choice2\nWho?,9,a,b\n")
    named = ["make", "reading-test", "--title", "Reading", "--description", "Opens a stage."]
    with pytest.raises(CommandError, match="line 2, right"):
        run("qualification_tests", "river", *named, "--file", file)
    with pytest.raises(CommandError, match="cannot be read"):
        run("qualification_tests", "river", *named, "--file", tmp_path / "no.csv")
    with pytest.raises(CommandError, match="where the questions come from"):
        run("qualification_tests", "river", *named)
    assert not river.qualification_tests.exists() and logged(river) == []


@pytest.fixture
def draft(river: Project) -> QualificationTest:
    columns = {"title": "Reading", "pass_mark": 80, "minutes": 15, "retry_days": None}
    return make.qualification_test(river, key="reading-test", **columns)


def details(row: QualificationTest) -> tuple[str, int, int, int | None, int]:
    row.refresh_from_db()
    return row.title, row.pass_mark, row.minutes, row.retry_days, len(row.questions)


def test_a_draft_is_edited_and_what_is_not_given_stays(run: Run, draft: QualificationTest, tmp_path: Path) -> None:
    edit = ("qualification_tests", "river", "edit", "reading-test")
    assert "a draft of 2 questions" in run(*edit, "--title", "Closer", "--retry-days", "7")
    assert details(draft) == ("Closer", 80, 15, 7, 2)
    file = tmp_path / "test.json"
    file.write_text(json.dumps(make.known_questions(3)))
    assert "a draft of 3 questions" in run(*edit, "--file", file)
    run(*edit, "--retry-days", "never", "--pass-mark", "70", "--minutes", "20")
    assert details(draft) == ("Closer", 70, 20, None, 3)
    assert logged(draft.project) == ["changed a qualification test"] * 3
    run(*edit, "--title", "Closer")
    assert len(logged(draft.project)) == 3, "it was called so before"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "Say what to change"),
        (("--title", "Closer", "--pass-mark", "101"), "pass_mark"),
        (("--title", "Closer", "--retry-days", "soon"), "neither a number of days nor 'never'"),
        (("--title", "Closer", "--draw", "3"), "No item here has a gold answer"),
        (("--title", "Closer", "--file", "nowhere.csv"), "cannot be read"),
        (("--draw", "3", "--file", "nowhere.csv"), "not from both"),
    ],
)
def test_a_refused_edit_changes_nothing(
    run: Run, draft: QualificationTest, arguments: tuple[str, ...], reason: str
) -> None:
    before = details(draft)
    with pytest.raises(CommandError, match=reason):
        run("qualification_tests", "river", "edit", "reading-test", *arguments)
    assert details(draft) == before and logged(draft.project) == []


def test_a_draft_is_required_of_a_stage_freed_and_deleted(
    run: Run, draft: QualificationTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = make.stage(draft.project, key="validate")
    where = ("reading-test", "--stage", "validate")
    assert "have to pass reading-test" in run("qualification_tests", "river", "require", *where)
    stage.refresh_from_db()
    assert [(one["qualification"], one["integers"]) for one in stage.requirements] == [("reading-test", [80])]
    assert run("qualification_tests", "river").split()[-3:] == ["80%", "–", "validate"]
    with pytest.raises(CommandError, match="requires this test"):
        run("qualification_tests", "river", "delete", "reading-test", "--yes")
    assert "need not pass reading-test" in run("qualification_tests", "river", "free", *where)
    stage.refresh_from_db()
    assert stage.requirements == []
    monkeypatch.setattr("builtins.input", lambda question: "n")
    with pytest.raises(CommandError, match="Nothing was deleted"):
        run("qualification_tests", "river", "delete", "reading-test")
    assert draft.project.qualification_tests.exists()
    assert "is deleted" in run("qualification_tests", "river", "delete", "reading-test", "--yes")
    assert not draft.project.qualification_tests.exists()
    assert logged(draft.project) == [
        "required a qualification test", "stopped requiring a qualification test", "removed a qualification test",
    ]  # fmt: skip


def test_what_workers_have_seen_stays(run: Run, draft: QualificationTest) -> None:
    stage = make.stage(draft.project, key="validate")
    make.stage(draft.project, key="generate", protocol="passage_queries", crowd=False, rule={})
    make.hit(make.item(stage))
    where = ("qualification_tests", "river", "require", "reading-test")
    for options, reason in (
        ((), "Say which stage"),
        (("--stage", "generate"), "Nobody is asked"),
        (
            ("--stage", "validate"),
            "is published",
        ),
    ):
        with pytest.raises(CommandError, match=reason):
            run(*where, *options)
    QualificationTest.objects.update(state=QualificationTest.State.OFFERED)
    for verb, options, reason in ("edit", ["--title", "Closer"], "no longer be changed"), (
        "delete", ["--yes"], "Only a draft can be removed",
    ):  # fmt: skip
        with pytest.raises(CommandError, match=reason):
            run("qualification_tests", "river", verb, "reading-test", *options)
    stage.refresh_from_db()
    assert (stage.requirements, details(draft)[0], logged(draft.project)) == ([], "Reading", [])
