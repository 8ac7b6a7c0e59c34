from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.hits import factories as make

pytestmark = pytest.mark.django_db


def test_the_command_writes_the_file_of_a_stage_or_of_all(tmp_path: Path) -> None:
    stage = make.stage(make.project(slug="river"), key="validate")
    make.stage(stage.project, key="again")
    make.label(make.assignment(make.hit(make.item(stage)), make.worker("AWORKER1")))
    alone, every = tmp_path / "alone.csv", tmp_path / "all.jsonl"
    call_command("results", "river", "validate", "--to", str(alone), "--worker-ids")
    assert alone.read_text().startswith("HITId,") and "AWORKER1" in alone.read_text()
    call_command("results", "river", "--format", "jsonl", "--to", str(every), "--all")
    row = json.loads(every.read_text())
    assert (row["stage"], row["not_counted"]) == ("validate", "") and row["worker"] != "AWORKER1"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.jsonl", "alone.csv"]


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    make.stage(make.project(slug="river"), key="validate")
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("results", "river", "--to", str(tmp_path / "none" / "file.csv"))
