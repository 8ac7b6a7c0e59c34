"""Archiving on the command line: what changes a project is refused then, what shows it is not."""

from __future__ import annotations

import pytest
from django.core.management import CommandError

from hits.models import Project
from tests.hits.commands.conftest import Run, logged

pytestmark = pytest.mark.django_db
SHOWING = [
    ("status",), ("ledger",), ("payments",), ("recipe_file",), ("members",), ("stages",), ("options",), ("budget",),
    ("stop_import",), ("tags",), ("stage", "validate"), ("task", "validate"), ("rule", "validate", "show"),
    ("qualification_tests",), ("changes",), ("quote", "validate"),
]  # fmt: skip
CHANGING = [
    ("budget", "30"), ("budget", "0"),
    ("options", "--set", "eval_share=0.5"), ("members", "--add", "lena=reader"), ("harvest",),
    ("publish", "validate", "--yes"), ("pause", "validate"), ("resume", "validate"), ("release",),
    ("tags", "--set", "pilot"), ("stage", "validate", "--no-auto-publish"), ("stage", "validate", "--set", "reward=1"),
    ("task", "validate", "--title", "Read"), ("check_ledger",), ("stages", "--remove", "validate"),
    ("extend", "validate", "2"), ("expire", "validate"), ("rejudge",), ("draw", "validate"),
]  # fmt: skip


def test_an_archived_project_is_shown_and_not_changed(run: Run, project: Project) -> None:
    assert "river is archived" in run("archive", "river")
    assert "river" not in run("projects") and "river" in run("projects", "--state", "archived")
    for name, *more in SHOWING:
        run(name, "river", *more)
    for name, *more in CHANGING:
        with pytest.raises(CommandError, match="is archived"):
            run(name, "river", *more)
    assert "river is in use" in run("archive", "river", "--restore")
    assert run("tags", "river", "--set", "Thesis pilot").strip() == "pilot thesis"
    assert logged(project)[-3:] == ["archived the project", "restored the project", "changed the tags"]


def test_what_is_not_finished_is_not_archived(run: Run, published: Project) -> None:
    with pytest.raises(CommandError, match="3 HITs are at workers"):
        run("archive", "river")
