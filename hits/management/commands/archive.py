from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from hits.flow.setup import archiving
from hits.management.commands._base import ProjectCommand


class Command(ProjectCommand):
    changing = ()
    help = "Archive a project: it leaves the list, and nothing in it changes until it is restored."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--restore", action="store_true", help="take it into use again")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["restore"]:
            archiving.restore(project, None)
            self.say(f"{project.slug} is in use.")
        else:
            archiving.archive(project, None)
            self.say(f"{project.slug} is archived.")
