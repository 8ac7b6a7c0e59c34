from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.hits import factories as make
from tests.hits.flow.test_imported_results import csv_of, moods, row

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
    assert "Input.text" not in row
    call_command("results", "river", "--format", "jsonl", "--to", str(every), "--inputs")
    assert "Input.text" in json.loads(every.read_text())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.jsonl", "alone.csv"]


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    make.stage(make.project(slug="river"), key="validate")
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("results", "river", "--to", str(tmp_path / "none" / "file.csv"))


def test_results_come_in_and_go_again_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stage = moods()
    slug, file = stage.project.slug, tmp_path / "old.csv"
    cells = {name: cell for name, cell in row(1, "A1", "Glad").items() if name != "Input.known"}
    file.write_bytes(csv_of(cells).replace(b"\r\n", b",\r\n"))
    with pytest.raises(CommandError, match="No column is Input.known"):
        call_command("import_results", slug, stage.key, str(file))
    call_command("import_results", slug, stage.key, str(file), "--columns")
    assert "Answer.mood  Answer.mood" in capsys.readouterr().out
    call_command("import_results", slug, stage.key, str(file), "--map", "Input.known==Glad")
    out = capsys.readouterr().out
    assert "1 answer came into" in out and stage.labels.get().correct
    assert "The last column is not read: there is no name in the first line." in out
    with pytest.raises(CommandError, match="imported already: old.csv"):
        call_command("import_results", slug, stage.key, str(file), "--map", "Input.known==Glad")
    call_command("import_results", slug, stage.key, "--remove", str(stage.result_files.get().pk), "--yes")
    assert "1 answer removed" in capsys.readouterr().out and not stage.assignments.exists()


def test_the_faults_of_a_file_are_printed_with_their_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stage, file = moods(), tmp_path / "old.csv"
    file.write_bytes(csv_of(row(1, "A1", "Merry"), row(2, "A2", "Merry")))
    with pytest.raises(CommandError, match="2 faults in old.csv. Nothing was imported"):
        call_command("import_results", stage.project.slug, stage.key, str(file))
    assert "2 lines: 2, 3" in capsys.readouterr().err
