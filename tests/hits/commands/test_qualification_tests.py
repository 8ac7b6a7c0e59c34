"""Qualification tests from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from hits.flow.common import gateway
from hits.models import Project
from tests.hits import factories as make
from tests.hits.commands.conftest import Run
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
    assert not river.qualification_tests.exists()
