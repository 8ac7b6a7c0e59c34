"""The notebook of the documents runs from beginning to end, and holds nothing of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ops.surroundings import ROOT
from tests.client.conftest import NOTEBOOK, run_script
from tests.client.notebooks import cells, run


def test_it_runs_and_makes_its_release(crowd: None, environment: dict[str, str], tmp_path: Path) -> None:
    settings = environment | {"PYTHONPATH": f"{ROOT}:{ROOT / 'client'}"}
    said = run_script(["-m", "tests.client.notebooks", str(NOTEBOOK)], settings, tmp_path)
    assert "10 items, 30 answers, at most $1.80" in said
    assert "of the majorities are right" in said
    assert (tmp_path / "from-a-notebook" / "items.csv").exists()


@pytest.mark.parametrize("notebook", sorted((ROOT / "docs").rglob("*.ipynb")), ids=lambda file: file.name)
def test_it_has_no_outputs_and_no_token(notebook: Path) -> None:
    text = notebook.read_text(encoding="utf-8")
    code = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert code and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert "annotate_" not in text.replace("annotate_client", "")


def test_a_cell_that_fails_is_named_and_ends_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "failing.ipynb"
    sources = ["a = 1\na + 1", "1 / 0", "print('never')"]
    code = [{"cell_type": "code", "source": [source]} for source in sources]
    file.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": ["# Title"]}, *code]}))
    assert cells(file, "markdown") == ["# Title"]
    assert run(file) == 2
    said = capsys.readouterr()
    assert said.out == "2\n"
    assert "ZeroDivisionError" in said.err and "Cell 2 of failing.ipynb" in said.err
