from __future__ import annotations

import threading
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import OperationalError, connection

from hits.flow.pipeline import importing
from hits.management.commands._base import ProjectCommand
from hits.models import Upload

EVERY_SECONDS = 2.0


class Command(ProjectCommand):
    help = "Import a file into a project: all of it, or nothing and every fault with its line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, nargs="+", help="several, or a folder of .story files, become one zip")
        parser.add_argument(
            "--origin", choices=["public", "crawled"], default="public", help="where its texts are from"
        )

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        name, content = _read(list(_files(options["file"])))
        upload = importing.create_upload(project, name, content, options["origin"], None)
        self.say(f"Reading {upload.name} ({upload.blob.size:,} bytes) ...")
        with self._progress(upload.pk):
            importing.import_upload(upload.pk)
        upload.refresh_from_db()
        if upload.state in (Upload.State.STOPPED, Upload.State.FAILED):
            raise CommandError(f"{upload.get_state_display()}. {upload.error}".strip())
        if upload.state != Upload.State.DONE:
            self._refuse(upload)
        self.say(f"Imported {upload.items:,} items of {upload.total:,} documents into {project.slug}.")
        for note in upload.notes:
            self.say(note)

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
                self.say(f"{state}: {done:,} documents")
        finally:
            connection.close()

    def _refuse(self, upload: Upload) -> None:
        for fault in upload.faults:
            where = [f"line {fault['line']}"] if fault["line"] is not None else []
            where += [fault["place"]] if fault["place"] else []
            self.stderr.write(f"{', '.join(where)}: {fault['message']}" if where else fault["message"])
        hidden = upload.fault_count - len(upload.faults)
        if hidden > 0:
            self.stderr.write(f"and {hidden:,} more")
        raise CommandError(f"{upload.fault_count:,} faults in {upload.name}. Nothing was imported.")


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
