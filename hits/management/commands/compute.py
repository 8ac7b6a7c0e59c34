from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.flow.pipeline import computing
from hits.management.commands._base import ProjectCommand
from hits.management.commands.create_project import option
from hits.models import ComputationRun, Project


class Command(ProjectCommand):
    changing = ("computation",)
    help = (
        "List what the recipe computes without a crowd, or compute one of it here and say what came out. With --files "
        "and --answers a model elsewhere takes part; --stop ends the run that waits or goes on, wherever it does, and "
        "--resume goes on where the newest run was stopped or failed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("computation", nargs="?", help="its key; without it, all are listed")
        parser.add_argument("--param", type=option, action="append", default=[], metavar="NAME=VALUE")
        instead = parser.add_mutually_exclusive_group()
        instead.add_argument("--files", type=Path, metavar="ZIP", help="write what a model elsewhere learns from")
        instead.add_argument("--answers", type=Path, metavar="FILE", help="read what a model elsewhere made of it")
        instead.add_argument("--resume", action="store_true", help="let the newest run go on where it was")
        instead.add_argument("--stop", action="store_true", help="end the run at its next sign of progress")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        key, params = options["computation"], dict(options["param"])
        if key is None:
            if options["stop"]:
                raise CommandError("Say which computation: its key, as it is listed without an option.")
            found = computing.computations(project)
            rows = [(each.key, each.stage, json.dumps(each.params), each.title) for each in found]
            return self.table(["key", "stage", "parameters", "title"], rows)
        if options["files"]:
            return self._write(project, key, params, options["files"])
        if options["stop"]:
            return self._stop(self._newest(project, key))
        if options["answers"]:
            return self._compute(self._brought_in(project, key, params, options["answers"]))
        return self._compute(self._resumed(project, key) if options["resume"] else self._started(project, key, params))

    def _write(self, project: Project, key: str, params: Mapping[str, Any], to: Path) -> None:
        pieces = computing.files(project, key, params)
        try:
            with to.open("wb") as file:
                file.writelines(pieces)
        except OSError as error:
            raise CommandError(f"{to} cannot be written: {error.strerror}.") from error
        self.say(f"{to} is written: {to.stat().st_size:,} bytes.")

    def _brought_in(self, project: Project, key: str, params: Mapping[str, Any], file: Path) -> ComputationRun:
        try:
            with file.open("rb") as stream:
                return computing.bring_in(project, key, params, file.name, stream, file.stat().st_size, None)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error

    def _newest(self, project: Project, key: str) -> ComputationRun:
        run = project.computation_runs.select_related("project").filter(key=key).first()
        if run is None:
            raise CommandError(f"{key} has never run.")
        return run

    def _stop(self, run: ComputationRun) -> None:
        if not computing.stop(run, None):
            run.refresh_from_db()
            raise CommandError(f"{run.key} had ended already: {run.get_state_display().lower()}. Nothing was changed.")
        self.say(f"{run.key} is stopped. Results of the run before it stand; --resume lets this one go on.")

    def _resumed(self, project: Project, key: str) -> ComputationRun:
        run = self._newest(project, key)
        computing.resume(run)
        return run

    def _started(self, project: Project, key: str, params: Mapping[str, Any]) -> ComputationRun:
        return computing.start(project, key, params, None)

    def _compute(self, run: ComputationRun) -> None:
        try:
            computing.run(run.pk)
        except Exception as error:
            raise CommandError(f"It failed: {error}. Results of the run before it stand.") from error
        run.refresh_from_db()
        if run.state == ComputationRun.State.FAILED:
            raise CommandError(run.error)
        for entry in run.log:
            if "report" in entry:
                # `agreement` prints it.
                continue
            self.say("  " + ", ".join(f"{name} {value}" for name, value in entry.items()))
        self.say(f"{run.key}: {run.get_state_display().lower()}, {run.items:,} items with a result.")
