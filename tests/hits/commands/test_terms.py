"""`manage.py terms`."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management.base import CommandError

from tests.hits import factories as make
from tests.hits.commands.conftest import Run, logged

pytestmark = pytest.mark.django_db


def test_terms_are_saved_shown_listed_and_withdrawn(run: Run, tmp_path: Path) -> None:
    project = make.project(slug="river")
    make.stage(project, key="own", protocol="html_page")
    file = tmp_path / "terms.md"
    file.write_text("We publish *answers*.\n", encoding="utf-8")
    said = run("terms", "river", "--save", file)
    assert "Version 1 stands." in said and "own shows a page of your own" in said
    assert "Version 1 stands already." in run("terms", "river", "--save", file)
    assert run("terms", "river", "--show", 1) == "We publish *answers*.\n"
    assert "Version 1 is withdrawn." in run("terms", "river", "--withdraw")
    assert "version  from (UTC)" in run("terms", "river")
    assert logged(project) == ["changed the terms for workers", "withdrew the terms for workers"]


def test_what_cannot_be_done_is_said_in_a_line(run: Run, tmp_path: Path) -> None:
    project = make.project(slug="river")
    (tmp_path / "empty.md").write_text(" \n", encoding="utf-8")
    (tmp_path / "bytes.md").write_bytes(b"\xff\xfe")
    for arguments, said in (
        (["--withdraw"], "no terms that stand"),
        (["--show", "4"], "has no version 4"),
        (["--save", tmp_path / "empty.md"], "Write the text"),
        (["--save", tmp_path / "bytes.md"], "cannot be read as text"),
        (["--save", tmp_path / "missing.md"], "cannot be read as text"),
    ):
        with pytest.raises(CommandError, match=said):
            run("terms", "river", *arguments)
    assert not project.terms.exists()
