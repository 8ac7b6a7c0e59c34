from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.flow import releasing
from hits.management.commands._base import ProjectCommand
from hits.models import Release


class Command(ProjectCommand):
    help = "Make a release of the verdicts as they stand, and print the SHA-256 of its files."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--to", type=Path, metavar="DIR", help="write the files there; none of them may exist")

    def run(self, options: dict[str, Any]) -> None:
        made, is_new = releasing.release(self.project(options), None)
        said = "is new" if is_new else "is as it was: nothing changed since"
        self.say(f"Release {made.number} {said}. Digest {made.digest}")
        if options["to"]:
            _write(made, options["to"])
        for file in made.files.select_related("blob"):
            self.say(f"{file.blob.sha256}  {file.name}")


def _write(made: Release, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in made.files.select_related("blob"):
            with (folder / file.name).open("xb") as target:
                target.writelines(file.blob.read_chunks())
    except FileExistsError as error:
        raise CommandError(f"{error.filename} is there already and stays as it is. Choose an empty folder.") from error
    except OSError as error:
        raise CommandError(f"{error.filename} cannot be written: {error.strerror}.") from error
