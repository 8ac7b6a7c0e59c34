from __future__ import annotations

from abc import abstractmethod
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError

from hits import tasks
from hits.flow.people import reviewing
from hits.formats.faults import counted
from hits.management.commands._base import StageCommand, agreed, jobs_run_here
from hits.models import Stage


class ReviewCommand(StageCommand):
    """Takes assignment ids, `--all` for what waits or `--held` for what does not count yet; decides and carries out."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("assignments", nargs="*", metavar="assignment", help="assignment ids at the marketplace")
        parser.add_argument("--all", action="store_true", help="every answer that waits for review and counts already")
        parser.add_argument(
            "--held",
            action="store_true",
            help="every answer that does not count yet: its worker was not eligible, or too fast",
        )

        parser.add_argument("--worker", default="", help="with --all or --held: only the answers of this worker")
        parser.add_argument(
            "--but", nargs="+", default=[], metavar="assignment", help="with --all or --held: not these"
        )

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        decided = self.decide(stage, self._chosen(stage, options), options)
        reviewing.finish(stage)
        with jobs_run_here():
            tasks.conclude_stage(stage.pk)
        self.say(f"{counted(decided, 'answer')} decided.")

    @abstractmethod
    def decide(self, stage: Stage, pks: Sequence[int], options: dict[str, Any]) -> int:
        """Write the decisions down; returns how many are new."""

    def _chosen(self, stage: Stage, options: dict[str, Any]) -> list[int]:
        if [options["all"], options["held"], bool(options["assignments"])].count(True) != 1:
            raise CommandError("Name assignments, or say --all or --held.")
        if (options["worker"] or options["but"]) and options["assignments"]:
            raise CommandError("--worker and --but go with --all or --held. Nothing was decided.")
        chosen = stage.assignments.exclude(assignment_id__in=options["but"])
        if options["worker"]:
            chosen = chosen.filter(worker__worker_id=options["worker"])
        waiting, held = chosen.to_review(), chosen.held()
        if options["held"]:
            return list(held.values_list("pk", flat=True))
        if options["all"]:
            return list(waiting.difference(held).values_list("pk", flat=True))
        found = dict(waiting.filter(assignment_id__in=options["assignments"]).values_list("assignment_id", "pk"))
        missing = [given for given in options["assignments"] if given not in found]
        if missing:
            raise CommandError(f"Not waiting in {stage.key}: {', '.join(missing)}. Nothing was decided.")
        return list(found.values())


class Command(ReviewCommand):
    help = "Approve answers that wait for review; they are paid, and those that did not count yet count."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--yes", action="store_true", help="do not ask about answers of blocked workers")

    def decide(self, stage: Stage, pks: Sequence[int], options: dict[str, Any]) -> int:
        of_blocked = reviewing.of_blocked(stage, pks)
        question = (
            f"Of {len(pks):,} answers {of_blocked:,} are from blocked workers and count for nothing. Pay them? [y/N] "
        )
        if of_blocked and not (options["yes"] or agreed(question)):
            raise CommandError("Nothing was approved.")
        return reviewing.approve(stage, pks, None, of_blocked=of_blocked)
