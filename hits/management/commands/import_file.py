from __future__ import annotations

import io
import threading
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import OperationalError, connection

from hits.domain.imported_tables import ShownTable, shown
from hits.domain.plugins import recipe_of
from hits.flow.pipeline import importing
from hits.formats.encodings import ENCODINGS, bytes_in_utf8
from hits.formats.faults import Fault, counted, grouped
from hits.management.commands import media
from hits.management.commands._base import ProjectCommand
from hits.models import Project, Upload

EVERY_SECONDS = 2.0
SHOWN_OF_A_CELL = 30


class Command(ProjectCommand):
    changing = ("file",)
    help = "Import a file into a project: all of it, or nothing and every fault with its line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, nargs="*", help="several, or a folder of .story files, become one zip")
        parser.add_argument(
            "--origin", choices=["public", "crawled"], default="public", help="where its texts are from"
        )
        add_encoding(parser)
        parser.add_argument(
            "--map",
            metavar="FIELD=COLUMN",
            action="append",
            help="read this column of a table as that field, and remember it; others are read as last time and by name",
        )
        parser.add_argument(
            "--columns", action="store_true", help="show the columns of a table with its first rows, and import nothing"
        )
        parser.add_argument(
            "--media",
            type=Path,
            nargs="+",
            metavar="FILE",
            help="a zip of media that its rows name, or the media files",
        )
        parser.add_argument("--sample", type=Path, metavar="FILE", help="write a small file that the recipe imports")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["sample"]:
            return self._write_sample(project, options["sample"])
        if not options["file"]:
            raise CommandError("Name a file to import, or --sample FILE to write one that can be.")
        name, content = _read(list(_files(options["file"])))
        content = bytes_in_utf8(content, options["encoding"])
        if options["columns"]:
            return self._show(shown(project, io.BytesIO(content), name))
        mapping = [_pair(one) for one in options["map"]] if options["map"] else None
        if options["media"]:
            self.say(f"{counted(media.add(project, options['media']), 'new file')} of media.")
        upload = importing.create_upload(project, name, content, options["origin"], None, mapping)
        self.say(f"Reading {upload.name} ({upload.blob.size:,} bytes) ...")
        with self._progress(upload.pk):
            importing.import_upload(upload.pk)
        upload.refresh_from_db()
        if upload.state in (Upload.State.STOPPED, Upload.State.FAILED):
            raise CommandError(f"{upload.get_state_display()}. {upload.error}".strip())
        if upload.state != Upload.State.DONE:
            self._refuse(upload)
        self.say(
            f"Imported {counted(upload.items, 'item')} of {counted(upload.total, 'document')} into {project.slug}."
        )
        for note in upload.notes:
            self.say(note)

    def _write_sample(self, project: Project, path: Path) -> None:
        sample = recipe_of(project).sample
        if sample is None:
            raise CommandError(f"The recipe {project.recipe} has no sample file.")
        if path.exists():
            raise CommandError(f"{path} is there already: name another file.")
        path.write_bytes(sample.content)
        self.say(f"Wrote {path}.")

    def _show(self, table: ShownTable) -> None:
        field_of = dict.fromkeys(table.of_suggestions, "a model’s suggestion")
        field_of |= {column: name for name, column in table.mapping.items()}
        lines = [f"line {line}" for line, _ in table.rows]
        rows = [
            [column, field_of.get(column, "–"), *(_short(cells[column]) for _, cells in table.rows)]
            for column in table.columns
        ]
        self.table(["column", "read as", *lines], rows)
        needed = [field.name for field in table.fields if field.needed and field.name not in table.mapping]
        if needed:
            self.say(f"No column is {', '.join(needed)} yet, which every row needs: name it with --map FIELD=COLUMN.")
        if table.note:
            self.say(table.note)

    @contextmanager
    def _progress(self, pk: int) -> Iterator[None]:
        """Says every two seconds how far the upload's row is; the import itself knows no terminal."""
        over = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(pk, over), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def _watch(self, pk: int, over: threading.Event) -> None:
        try:
            while not over.wait(EVERY_SECONDS):
                try:
                    state, done = Upload.objects.values_list("state", "done").get(pk=pk)
                except OperationalError:
                    # The import holds the database's write lock for longer than a reader waits.
                    continue
                self.say(f"{state}: {counted(done, 'document')}")
        finally:
            connection.close()

    def _refuse(self, upload: Upload) -> None:
        for group in grouped(Fault(**fault) for fault in upload.faults):
            self.stderr.write(str(group))
        hidden = upload.fault_count - len(upload.faults)
        if hidden > 0:
            self.stderr.write(f"and {hidden:,} more")
        raise CommandError(f"{counted(upload.fault_count, 'fault')} in {upload.name}. Nothing was imported.")


def add_encoding(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--encoding", default="", help=f"of a file of text that is not UTF-8: {', '.join(ENCODINGS)}", metavar="NAME"
    )


def _pair(given: str) -> tuple[str, str]:
    field, equals, column = given.partition("=")
    if not equals:
        raise CommandError(f"{given} says no column: write --map FIELD=COLUMN, such as --map text=passage.")
    return field.strip(), column.strip()


def _short(cell: str) -> str:
    """In one line that fits beside others."""
    text = " ".join(cell.split())
    return text if len(text) <= SHOWN_OF_A_CELL else f"{text[: SHOWN_OF_A_CELL - 1]}…"


def _files(given: list[Path]) -> Iterator[Path]:
    for path in given:
        yield from sorted(path.glob("*.story")) if path.is_dir() else [path]


def _read(files: list[Path]) -> tuple[str, bytes]:
    """The name and bytes of the file, or of a zip of several. Raises CommandError."""
    if not files:
        raise CommandError("There is no .story file in this folder.")
    with ExitStack() as opened:
        try:
            # By its size first: a file beyond all measure must not be read into memory.
            importing.check_size(sum(file.stat().st_size for file in files))
            return importing.as_one([(file.name, opened.enter_context(file.open("rb"))) for file in files])
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}.") from error
