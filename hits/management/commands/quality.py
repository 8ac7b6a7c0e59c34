from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from hits import tasks
from hits.flow import blocking
from hits.management.commands._base import StageCommand, jobs_run_here


class Command(StageCommand):
    help = "Show who answers significantly worse than the crowd; --apply blocks them and asks their items again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--apply", action="store_true", help="block those who are shown")

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        if not stage.quality:
            raise blocking.NoPolicyError(f"{stage.key} has no blocking policy, so nobody can be below its floor.")
        found = blocking.proposals(stage)
        if not found:
            self.say("Nobody is below the floor.")
            return
        rows = [
            (e.worker, e.scored, e.correct, f"{e.accuracy:.1%}", f"{e.interval[0]:.1%}", f"{e.interval[1]:.1%}",
             f"{e.average:.1%}", f"{e.p_value:.2g}")
            for e in found
        ]  # fmt: skip
        self.table(["worker", "scored", "correct", "accuracy", "low", "high", "crowd", "p"], rows)
        if not options["apply"]:
            self.say("Nobody was blocked: this is a preview.")
            return
        blocking.mark_checked(stage)
        new = blocking.block(stage, [evidence.worker for evidence in found], None)
        with jobs_run_here():
            tasks.conclude_project(stage.project_id)
        self.say(f"{new:,} workers blocked.")
