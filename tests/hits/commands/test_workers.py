"""`manage.py workers`, and `quality` with a reason, against the real marketplace."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from hits.models import Block, Stage
from tests.hits import factories as make
from tests.hits.commands.conftest import Run
from tests.hits.market import Marketplace

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stage() -> Stage:
    row = make.stage(make.project(slug="river"), key="choose")
    make.worker_stat(row, make.worker("AGOOD"), compared=40, agreed=36, agreed_by_chance=16)
    make.worker_stat(row, make.worker("APOOR"), compared=40, agreed=16, agreed_by_chance=16, why="Others.", notices=1)
    return row


def test_the_figures_are_shown_and_written_as_csv(run: Run, stage: Stage) -> None:
    said = run("workers", "river", "choose").splitlines()
    assert said[1].startswith("APOOR") and said[1].endswith("Others.") and "40.0% (26% to 55% of 40)" in said[1]
    assert run("workers", "river", "choose", "--sort=-agreement").splitlines()[1].startswith("AGOOD")
    rows = list(csv.DictReader(run("workers", "river", "choose", "--csv").splitlines()))
    assert [row["worker_id"] for row in rows] == ["APOOR", "AGOOD"] and rows[1]["agreement"] == "0.9"
    assert "Competence: The answers of this stage have not been aggregated yet" in run("workers", "river", "choose")
    assert {row["competence"] for row in rows} == {""} and "not been aggregated" in rows[0]["competence_missing"]


def test_a_worker_is_blocked_by_hand_with_a_reason(run: Run, stage: Stage, market: Marketplace) -> None:
    worker = market.sign_up_worker()
    make.worker_stat(stage, make.worker(worker))
    given = ("quality", "river", "choose", "--reason", "One name for all.")
    with pytest.raises(CommandError, match="Name the workers"):
        run(*given)
    assert "this is a preview" in run(*given, "--worker", worker)
    assert not Block.objects.exists()
    assert "1 workers blocked" in run(*given, "--worker", worker, "--apply", "--yes")
    assert Block.objects.get().evidence["reason"] == "One name for all."


def test_a_worker_is_paused(run: Run, stage: Stage, market: Marketplace) -> None:
    worker = market.sign_up_worker()
    make.worker_stat(stage, make.worker(worker))
    assert "1 workers paused for 24 hours" in run("quality", "river", "choose", "--worker", worker, "--pause", "24")
    assert Block.objects.get().until is not None
    with pytest.raises(CommandError, match="Name the workers"):
        run("quality", "river", "choose", "--pause", "24")


def test_a_message_is_shown_and_sent(run: Run, stage: Stage, market: Marketplace, tmp_path: Path) -> None:
    assert "Subject: About your answers" in run("messages", "river", "choose", "--worker", "APOOR")
    text = tmp_path / "note.txt"
    text.write_text("Read the whole text.")
    said = run("messages", "river", "choose", "--worker", "APOOR", "--text", str(text), "--send", "--yes")
    assert "0 messages sent." in said
    assert "has no work" in run("messages", "river", "choose")
    with pytest.raises(CommandError, match="has not answered"):
        run("messages", "river", "choose", "--worker", "A0")
