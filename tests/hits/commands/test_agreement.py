"""`manage.py agreement`: figures of a stage, computed and printed, and values as CSV."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from hits.models import Stage
from tests.hits import factories as make
from tests.hits.said import say

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage(db: None) -> Stage:
    project = make.project(slug="boats")
    found = make.stage(project, key="judge", title="Judge", protocol="multiple_choice")
    say(found, [{"ann": "yes", "ben": "yes", "cleo": "no"}, {"ann": "no", "ben": "no"}])
    found.labels.filter(value="yes").update(correct=True)
    return found


def test_it_computes_prints_and_writes(stage: Stage, run: Any, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="not computed yet: add --compute"):
        run("agreement", "boats", "judge")
    said = run("agreement", "boats", "judge", "--compute", "--method", "dawid_skene", "--csv", tmp_path / "v.csv")
    assert "choice (nominal): 5 answers of 3 workers to 2 items" in said
    assert "  alpha: 0.333 (95 %:" in said
    assert "  cohen: not defined: it is for two annotators, and there are 3" in said
    assert "  Dawid-Skene" in said and "  Majority" in said
    assert "  MACE assumes: All values are equally common" in said
    assert "  Recommended: Majority" in said and "items with a gold answer; no method is right on more." in said
    with (tmp_path / "v.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["item"], row["value"], row["answers"]) for row in rows] == [
        ("item-1", "yes", "3"),
        ("item-2", "no", "2"),
    ]
    assert [row["Input.text"] for row in rows] == [item.document.data["text"] for item in stage.items.order_by("pk")]
    assert run("agreement", "boats", "judge").splitlines() == said.splitlines()[:-1]


def test_what_cannot_be_is_refused(stage: Stage, run: Any, tmp_path: Path) -> None:
    make.stage(stage.project, key="story", title="Story", protocol="story")
    for wrong, reason in (
        (["story"], "are texts"),
        (["judge", "--method", "mace"], "add --compute"),
        (["judge", "--compute", "--method", "guessing"], "must be one of"),
        (["judge", "--compute", "--csv", tmp_path], "cannot be written"),
    ):
        with pytest.raises(CommandError, match=reason):
            run("agreement", "boats", *wrong)
