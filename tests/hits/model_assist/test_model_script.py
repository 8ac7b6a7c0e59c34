"""The script of docs/models.md as a program of its own, against a real server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from hits.models import ModelAnswer, ModelLease
from tests.hits import factories as make
from tests.hits import models_that_answer as asked

DOCUMENT = settings.ROOT / "docs" / "models.md"


def script() -> str:
    (found,) = re.findall(r"```python\n(.+?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    return str(found)


def test_it_has_twenty_lines_at_most() -> None:
    assert len([line for line in script().splitlines() if line.strip()]) <= 20


@pytest.mark.django_db(transaction=True)
def test_it_answers_everything_until_nothing_is_left(live_server: Any, tmp_path: Path) -> None:
    stage = asked.stage(make.project())
    rows = asked.items(stage, 60)
    row, token = asked.registered(stage.project, "small-bert", "1")
    file = tmp_path / "answer.py"
    file.write_text(script())
    environment = {**os.environ, "ANNOTATE": live_server.url, "TOKEN": token, "STAGE": "ask"}
    done = subprocess.run([sys.executable, file], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["{'new': 50, 'unchanged': 0}", "{'new': 10, 'unchanged': 0}"]
    answers = ModelAnswer.objects.filter(annotator=row)
    assert set(answers.values_list("item", flat=True)) == {one.pk for one in rows}
    assert {answer.confidence for answer in answers} == {0.5} and not ModelLease.objects.exists()
