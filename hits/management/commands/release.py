from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.domain import release_folders
from hits.flow.data import releasing
from hits.management.commands._base import ProjectCommand
from hits.models import Blob


class Command(ProjectCommand):
    help = "Make a release of the verdicts as they stand, and print the SHA-256 of its files."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--to", type=Path, metavar="DIR", help="write the files there; none of them may exist")
        parser.add_argument(
            "--without-keys", action="store_true", help="leave out the answers of test, which lie beside DIR otherwise"
        )

    def run(self, options: dict[str, Any]) -> None:
        made, is_new = releasing.release(self.project(options), None)
        said = "is new" if is_new else "is as it was: nothing changed since"
        self.say(f"Release {made.number} {said}. Digest {made.digest}")
        folder = (options["to"] or Path("release")).resolve()
        blobs = release_folders.paths(made, folder.name, keys=not options["without_keys"])
        if options["to"]:
            _write({folder.parent / path: blob for path, blob in blobs.items()}, folder)
        for path, blob in blobs.items():
            self.say(f"{blob.sha256}  {os.path.relpath(path, folder.name)}")


def _write(files: Mapping[Path, Blob], folder: Path) -> None:
    """All of the files or none: they get their names when every one of them is on the disk."""
    there = [path for path in files if path.exists()]
    if there:
        raise CommandError(f"{there[0]} is there already and stays as it is. Choose an empty folder.")
    parts = {path.with_name(f".{path.name}.part"): path for path in files}
    is_new = not folder.exists()
    within = sorted({path.parent for path in files if not path.parent.exists()} - {folder, folder.parent})
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for each in within:
            each.mkdir()
        for part, path in parts.items():
            with part.open("wb") as target:
                target.writelines(files[path].read_chunks())
                target.flush()
                os.fsync(target.fileno())
        for part, path in parts.items():
            part.rename(path)
    except OSError as error:
        _take_back([*parts, *parts.values()], [*within, *([folder] if is_new else [])])
        raise CommandError(f"{folder} cannot be written: {error.strerror}. Nothing was left there.") from error


def _take_back(paths: Sequence[Path], folders: Sequence[Path]) -> None:
    """What is in the way of removing a folder, such as another file in it, stays with it."""
    for path in paths:
        with suppress(OSError):
            path.unlink()
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()
