from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from hits.flow.setup import archiving
from hits.management.commands._base import ProjectCommand


class Command(ProjectCommand):
    changing = ("set",)
    help = "Show the words that a project is found by, or replace them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--set", metavar="WORDS", help="all of them, such as 'pilot news'; '' for none")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["set"] is not None:
            archiving.change_tags(project, options["set"], None)
        self.say(project.tags or "No tags.")
