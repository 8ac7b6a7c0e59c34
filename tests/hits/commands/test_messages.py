"""`manage.py messages`, `message_templates` and `inbox`."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management.base import CommandError

from hits.models import InboxEntry, Stage, WorkerMessage
from tests.hits import factories as make
from tests.hits.commands.conftest import Run
from tests.hits.flow.conftest import stand_in
from tests.hits.flow.stand_in import StandIn

__all__ = ["stand_in"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def answered_stage(stand_in: StandIn) -> Stage:
    stage = make.stage(make.project(slug="river"), key="choose", hit_title="Was it wet?")
    make.worker_stat(stage, make.worker("A1"))
    return stage


def test_a_template_is_kept_shown_used_and_removed(
    run: Run, answered_stage: Stage, stand_in: StandIn, tmp_path: Path
) -> None:
    file = tmp_path / "new.txt"
    file.write_text("Hello {worker}.\n", encoding="utf-8")
    assert "New in {stage}" in run(
        "message_templates", "river", "--save", "New", "--subject", "New in {stage}", "--text", file
    )
    assert "Hello {worker}." in run("message_templates", "river", "--show", "New")
    draft = run("messages", "river", "choose", "--worker", "A1", "--template", "New")
    assert "Subject: New in Was it wet?" in draft and "Hello A1." in draft and not WorkerMessage.objects.exists()
    said = run("messages", "river", "choose", "--to", "stage", "--template", "New", "--send", "--yes")
    assert "To 1 worker." in said and "1 message sent." in said and len(stand_in.notes) == 1
    assert "New in Was it wet?" in run("messages", "river", "choose")
    with pytest.raises(CommandError, match="no message template 'Old'"):
        run("messages", "river", "choose", "--to", "stage", "--template", "Old")
    assert "New in" not in run("message_templates", "river", "--remove", "New")
    file.write_text("{nobody}", encoding="utf-8")
    with pytest.raises(CommandError, match="no placeholder {nobody}"):
        run("message_templates", "river", "--save", "New", "--subject", "x", "--text", file)


def test_the_inbox_is_listed_marked_and_answered(run: Run, answered_stage: Stage, tmp_path: Path) -> None:
    worker = answered_stage.worker_stats.get().worker
    entry = make.reply(make.message(answered_stage, worker), text="Why\nnot?")
    assert "Why not?" in run("inbox", "river")
    assert "1 is marked as answered." in run("inbox", "river", "--answered", entry.pk)
    assert "Why not?" not in run("inbox", "river") and "Why not?" in run("inbox", "river", "--state", "answered")
    assert "1 is open again." in run("inbox", "river", "--open-again", entry.pk)
    file = tmp_path / "answer.txt"
    file.write_text("Because.", encoding="utf-8")
    said = run("inbox", "river", "--reply", entry.pk, "--subject", "Re", "--text", file, "--yes")
    assert "1 message sent." in said
    assert InboxEntry.objects.get().answered_with.text == "Because."
    with pytest.raises(CommandError, match="has no entry 999"):
        run("inbox", "river", "--answered", 999)
    with pytest.raises(CommandError, match="Nothing was sent"):
        run("inbox", "river", "--reply", 999, "--text", file)
