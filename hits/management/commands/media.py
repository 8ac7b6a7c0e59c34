from __future__ import annotations

from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.flow.data import media_files
from hits.flow.pipeline import importing
from hits.formats.faults import Fault, counted, grouped
from hits.management.commands._base import SHOWN, ProjectCommand, agreed
from hits.models import MediaFile, Project, Upload


class Command(ProjectCommand):
    changing = ("add", "delete")
    help = "List the pictures, sounds and videos of a project; add, delete or write them to a folder."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        action = parser.add_mutually_exclusive_group()
        action.add_argument("--add", type=Path, nargs="+", metavar="FILE", help="a zip, or the files themselves")
        action.add_argument("--delete", nargs="+", metavar="NAME", help="files that no published item shows")
        action.add_argument("--to", type=Path, metavar="FOLDER", help="write all files into a new or empty folder")
        parser.add_argument("--after", default="", metavar="NAME", help="list those behind this one")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["add"]:
            return self.say(f"{counted(add(project, options['add']), 'new file')} in {project.slug}.")
        if options["delete"]:
            return self._delete(project, options["delete"], options["yes"])
        if options["to"]:
            return self._write(project, options["to"])
        files = project.media.ready().select_related("blob").filter(name__gt=options["after"])
        rows = [(file.name, file.content_type, file.blob.size, file.blob.sha256[:12]) for file in files[:SHOWN]]
        self.table(["name", "type", "bytes", "sha256"], rows)
        if (more := files.count() - len(rows)) > 0:
            self.say(f"and {more:,} more: --after {rows[-1][0]!r}")

    def _delete(self, project: Project, names: list[str], yes: bool) -> None:
        if not yes and not agreed(f"Delete {counted(len(names), 'file')} of {project.slug}? [y/N] "):
            raise CommandError("Nothing was deleted.")
        self.say(f"Deleted {counted(len(media_files.delete_media(project, names, None)), 'file')}.")

    def _write(self, project: Project, folder: Path) -> None:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise CommandError(f"{folder} is no empty folder: name another one.")
        files = project.media.ready().select_related("blob")
        for file in files.iterator():
            _write(file, folder / file.name)
        self.say(f"Wrote {counted(files.count(), 'file')} to {folder}.")


def _write(file: MediaFile, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as target:
        for chunk in file.blob.read_chunks():
            target.write(chunk)


def add(project: Project, paths: list[Path]) -> int:
    """Import these files; returns how many are new. Raises CommandError with every fault."""
    with ExitStack() as opened:
        try:
            files = [(path.name, opened.enter_context(path.open("rb"))) for path in paths]
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}.") from error
        upload = importing.create_media_upload(project, list(files), None)
    return bring_in(upload)


def bring_in(upload: Upload) -> int:
    """Raises CommandError with every fault."""
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    if upload.state == Upload.State.REFUSED:
        told = "\n".join(map(str, grouped(Fault(**fault) for fault in upload.faults)))
        raise CommandError(f"{told}\nNothing of {upload.name} was stored.")
    if upload.state != Upload.State.DONE:
        raise CommandError(f"{upload.get_state_display()}. {upload.error}".strip())
    return upload.items
