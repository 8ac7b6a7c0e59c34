from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.domain.plugins import refuse_without_crowd
from hits.flow.data import exporting
from hits.management.commands._base import ProjectCommand


class Command(ProjectCommand):
    changing = ()
    help = "Write the answers of a stage, or of all stages, as a file for other programs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("stage", nargs="?", help="the stage's key; all stages without it")
        parser.add_argument(
            "--format",
            choices=exporting.FORMATS,
            default=exporting.MTURK,
            help="Mechanical Turk's columns, a row an answer; or the long table, a row a label",
        )
        parser.add_argument("--to", type=Path, required=True, metavar="FILE", help="where the file is written")
        parser.add_argument("--worker-ids", action="store_true", help="the ids of workers instead of pseudonyms")
        parser.add_argument("--inputs", action="store_true", help="the long table also has what each item shows")
        parser.add_argument("--text-evidence", action="store_true", help="the long table also has how texts came about")
        parser.add_argument("--all", action="store_true", help="also what does not count, with a column that says why")

    def run(self, options: dict[str, Any]) -> None:
        names = ("format", "worker_ids", "all", "inputs", "text_evidence")
        choices = exporting.Choices(*(options[name] for name in names))
        if options["stage"]:
            stage = self.stages(options)[0]
            refuse_without_crowd(stage)
            file = exporting.of_stage(stage, choices)
        else:
            file = exporting.of_project(self.project(options), choices)
        path: Path = options["to"]
        try:
            # The file is there when it is whole.
            part = path.with_name(f"{path.name}.part")
            with part.open("wb") as stream:
                size = sum(stream.write(piece) for piece in file.pieces)
            part.replace(path)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from error
        self.say(f"{size:,} bytes written to {path}.")
