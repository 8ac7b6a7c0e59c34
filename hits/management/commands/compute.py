from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits.flow import computing
from hits.management.commands._base import ProjectCommand
from hits.management.commands.create_project import option
from hits.models import ComputationRun


class Command(ProjectCommand):
    help = "List what the recipe computes without a crowd, or compute one of it here and say what came out."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("computation", nargs="?", help="its key; without it, all are listed")
        parser.add_argument("--param", type=option, action="append", default=[], metavar="NAME=VALUE")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["computation"] is None:
            found = computing.computations(project)
            rows = [(each.key, each.stage, json.dumps(each.params), each.title) for each in found]
            return self.table(["key", "stage", "parameters", "title"], rows)
        run = computing.start(project, options["computation"], dict(options["param"]), None)
        try:
            computing.run(run.pk)
        except Exception as error:
            raise CommandError(f"It failed: {error}. Results of the run before it stand.") from error
        self._tell(run)

    def _tell(self, run: ComputationRun) -> None:
        run.refresh_from_db()
        for entry in run.log:
            self.say("  " + ", ".join(f"{name} {value}" for name, value in entry.items()))
        self.say(f"{run.key}: {run.get_state_display().lower()}, {run.items:,} items with a result.")
