"""`import_file` for tables: columns shown, mapped and remembered, and a sample to begin with."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from hits.models import Item, Project, Upload
from tests.hits import factories
from tests.hits.commands.conftest import Run
from tests.hits.formats.test_rows import workbook

pytestmark = pytest.mark.django_db
ROWS = [["doc", "passage", "source"], *([f"r{n}", f"Rain fell on quay {n}.", "Gazette"] for n in range(7))]


@pytest.fixture
def project(run: Run) -> Project:
    factories.user("lena")
    slug = run(
        "create_project", "Rain", "--recipe", "choice", "--budget", 5, "--email", "l@example.org", "--owner", "lena"
    )
    return Project.objects.get(slug=slug.strip())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rain.xlsx"
    path.write_bytes(workbook(ROWS))
    return path


def test_columns_are_shown_with_the_first_rows_and_nothing_is_imported(run: Run, project: Project, file: Path) -> None:
    said = run("import_file", "rain", file, "--columns")
    assert "Rain fell on quay 4." in said and "Rain fell on quay 5." not in said
    assert "No column is id, text yet, which every row needs: name it with --map FIELD=COLUMN." in said
    assert not Upload.objects.exists()


def test_mapped_columns_are_imported_and_remembered(run: Run, project: Project, file: Path) -> None:
    said = run("import_file", "rain", file, "--map", "id=doc", "--map", "text=passage")
    assert "Imported 7 items of 7 documents into rain." in said
    assert Item.objects.first().document.data["columns"] == {"source": "Gazette"}
    file.write_bytes(workbook([ROWS[0], ["s1", "Sun.", ""]]))
    assert "Imported 1 item of 1 document" in run("import_file", "rain", file)


def test_a_text_that_is_not_utf_8_is_imported_with_the_encoding_that_the_refusal_names(
    run: Run, project: Project, tmp_path: Path
) -> None:
    path = tmp_path / "rain.txt"
    path.write_bytes("id\ttext\r\nr1\tCafé 日本\r\n".encode("utf-16"))
    with pytest.raises(CommandError, match="--encoding utf-16"):
        run("import_file", "rain", path)
    assert "Café 日本" in run("import_file", "rain", path, "--columns", "--encoding", "utf-16")
    assert "Imported 1 item" in run("import_file", "rain", path, "--encoding", "utf-16")
    assert Item.objects.get().document.data["text"] == "Café 日本"


def test_two_columns_for_one_field_are_refused_and_nothing_changes(run: Run, project: Project, file: Path) -> None:
    with pytest.raises(
        CommandError, match="text can be one column, not both “passage” and “source”: choose one of them"
    ):
        run("import_file", "rain", file, "--map", "id=doc", "--map", "text=passage", "--map", "text=source")
    with pytest.raises(CommandError, match="write --map FIELD=COLUMN"):
        run("import_file", "rain", file, "--map", "text")
    project.refresh_from_db()
    assert (Upload.objects.count(), project.mapping) == (0, {})


def test_faults_of_one_kind_are_one_line(run: Run, project: Project, tmp_path: Path) -> None:
    path = tmp_path / "rain.csv"
    path.write_text("id,text\n" + "".join(f"r{n},\n" for n in range(20)))
    said = io.StringIO()
    with pytest.raises(CommandError, match="20 faults in rain.csv. Nothing was imported."):
        call_command("import_file", "rain", str(path), stderr=said, no_color=True)
    assert said.getvalue() == "`text` must not be blank in 20 lines: 2, 3, 4, 5, 6 and 15 more\n"


def test_the_sample_is_written_once_and_can_be_imported(run: Run, project: Project, tmp_path: Path) -> None:
    path = tmp_path / "sample.csv"
    run("import_file", "rain", "--sample", path)
    assert "Imported 3 items" in run("import_file", "rain", path)
    with pytest.raises(CommandError, match="is there already"):
        run("import_file", "rain", "--sample", path)
    with pytest.raises(CommandError, match="Name a file to import"):
        run("import_file", "rain")
