from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from hits.flow.setup import projects
from hits.management.commands._base import ProjectCommand
from hits.management.commands.create_project import option


class Command(ProjectCommand):
    changing = ("set",)
    help = "The recipe's options that a project goes by, what they mean, the paper's value. --set changes them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--set", type=option, action="append", default=[], metavar="NAME=VALUE")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["set"]:
            projects.change_options(project, dict(options["set"]))
        described = projects.described_options(project)
        for name, value in projects.options_of(project).items():
            one = described.get(name)
            self.say(f"{name} = {value}")
            if one:
                self.say(f"    {one.label} ({one.unit}). {one.help} Paper: {one.paper}.")
