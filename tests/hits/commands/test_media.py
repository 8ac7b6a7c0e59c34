"""`media` and `import_file --media` on the command line."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from hits.flow.setup import projects, setting_up
from hits.models import Item, Project
from tests.hits import factories
from tests.hits import samples_of_media as sample
from tests.hits.commands.conftest import Run
from tests.hits.flow.test_media import FORM

CAT = sample.png(40, 30)


@pytest.fixture
def quay(db: None) -> Project:
    made = projects.create_project("Quay", "form", Decimal("5.00"), "lab@example.org", factories.user("lena"))
    setting_up.change_task(made.stages.get(), {"settings": {"form": FORM}}, None)
    return made


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    file = tmp_path / "m.zip"
    file.write_bytes(sample.zipped({"images/cat.png": CAT, "bell.wav": sample.wav()}))
    return file


def test_files_are_added_listed_written_to_a_folder_and_deleted(
    run: Run, quay: Project, archive: Path, tmp_path: Path
) -> None:
    assert run("media", "quay", "--add", archive) == "2 new files in quay.\n"
    assert "images/cat.png  image/png" in run("media", "quay")
    assert "bell.wav" not in run("media", "quay", "--after", "bell.wav")
    run("media", "quay", "--to", tmp_path / "out")
    assert (tmp_path / "out" / "images" / "cat.png").read_bytes() == CAT
    with pytest.raises(CommandError, match="no empty folder"):
        run("media", "quay", "--to", tmp_path / "out")
    assert run("media", "quay", "--delete", "bell.wav", "--yes") == "Deleted 1 file.\n"
    assert [file.name for file in quay.media.all()] == ["images/cat.png"]
    assert quay.actions.filter(verb="deleted media", origin="command").count() == 1


def test_every_fault_is_printed_and_nothing_is_stored(run: Run, quay: Project, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes(b"text")
    (tmp_path / "cat.png").write_bytes(CAT)
    with pytest.raises(CommandError, match=r"notes\.txt: is none of the files that are taken"):
        run("media", "quay", "--add", tmp_path / "cat.png", tmp_path / "notes.txt")
    assert not quay.media.exists()
    with pytest.raises(CommandError, match="cannot be read"):
        run("media", "quay", "--add", tmp_path / "none.zip")


def test_a_table_comes_with_its_media(run: Run, quay: Project, archive: Path, tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("id,picture\nr1,cat.png\n", encoding="utf-8")
    said = run("import_file", "quay", table, "--media", archive)
    assert "2 new files of media." in said and "Imported 1 item of 1 document into" in said
    factories.hit(Item.objects.get())
    with pytest.raises(CommandError, match=r"Published items show images/cat\.png"):
        run("media", "quay", "--delete", "images/cat.png", "--yes")
