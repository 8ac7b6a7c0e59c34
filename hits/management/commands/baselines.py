from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from hits.domain import evaluated_systems
from hits.flow.data import evaluating
from hits.management.commands._base import ProjectCommand


class Command(ProjectCommand):
    help = "Run the simple systems of the recipe on a release, and print the table of all systems that were evaluated."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--release", type=int, metavar="NUMBER", help="the newest one, if none is named")
        parser.add_argument("--seed", type=int, help="the project's, if none is named")

    def run(self, options: dict[str, Any]) -> None:
        release = evaluating.release_numbered(self.project(options), options["release"])
        evaluating.baselines(release, None, options["seed"])
        self.say(evaluated_systems.markdown(release))
