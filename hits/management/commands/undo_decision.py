from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits.flow.people import reviewing
from hits.management.commands._base import StageCommand


class Command(StageCommand):
    help = "Undo approvals and rejections that are not sent to the marketplace yet; the answers wait again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("assignments", nargs="+", metavar="assignment", help="assignment ids at the marketplace")

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        found = stage.assignments.filter(assignment_id__in=options["assignments"])
        rows = dict(found.values_list("assignment_id", "pk"))
        if missing := [given for given in options["assignments"] if given not in rows]:
            raise CommandError(f"Not in {stage.key}: {', '.join(missing)}. Nothing was changed.")
        count = reviewing.undo(stage, list(rows.values()), None)
        self.say(f"{count:,} decision{'' if count == 1 else 's'} undone.")
