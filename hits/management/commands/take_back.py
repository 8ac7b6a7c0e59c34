from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits import tasks
from hits.flow.people import reviewing
from hits.formats.faults import counted
from hits.management.commands._base import StageCommand, agreed, dollars, jobs_run_here
from hits.models import Assignment


class Command(StageCommand):
    help = "Approve rejected answers after all; within 30 days, and before their HITs are deleted."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("assignments", nargs="+", metavar="assignment", help="assignment ids at the marketplace")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        rejected = stage.assignments.filter(state=Assignment.State.REJECTED).select_related("hit")
        rows = {row.assignment_id: row for row in rejected.filter(assignment_id__in=options["assignments"])}
        missing = [given for given in options["assignments"] if given not in rows]
        if missing:
            raise CommandError(f"Not rejected in {stage.key}: {', '.join(missing)}. Nothing was changed.")
        cost = sum(row.hit.unit_cost for row in rows.values())
        if not options["yes"] and not agreed(
            f"Approve {counted(len(rows), 'answer')} after all for {dollars(cost)}? [y/N] "
        ):
            raise CommandError("Nothing was changed.")
        decided = reviewing.take_back(stage, [row.pk for row in rows.values()], None)
        reviewing.finish(stage)
        with jobs_run_here():
            tasks.conclude_stage(stage.pk)
        left = stage.assignments.filter(assignment_id__in=rows, state=Assignment.State.REJECTED)
        self.say(f"{decided:,} rejection{'' if decided == 1 else 's'} taken back, {left.count():,} not confirmed yet.")
