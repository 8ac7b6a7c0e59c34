from __future__ import annotations

from argparse import ArgumentParser
from operator import attrgetter
from typing import Any

from hits import tasks
from hits.management.commands._base import ProjectCommand, jobs_run_here
from hits.models import Batch


class Command(ProjectCommand):
    help = "Fetch answers and take them as far as they lead: verdicts, blocks, further answers, the next stage."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("stage", nargs="?", help="one stage; all by default")

    def run(self, options: dict[str, Any]) -> None:
        for stage in filter(attrgetter("crowd"), self.stages(options)):
            with jobs_run_here():
                new = tasks.harvest_stage(stage.pk)
            stage.summary.refresh_from_db()
            figures = stage.summary
            self.say(
                f"{stage.key}: {new:,} new answers; {figures.kept:,} kept, {figures.dropped:,} dropped, "
                f"{figures.open:,} open, {figures.waiting:,} waiting"
            )
            for batch in stage.batches.filter(state=Batch.State.WAITING):
                self.say(f"{stage.key}: batch {batch.pk} waits. {batch.message}")
