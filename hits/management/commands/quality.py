from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits import tasks
from hits.flow.people import blocking
from hits.management.commands._base import StageCommand, agreed, dollars, jobs_run_here
from hits.models import Stage


class Command(StageCommand):
    changing = ("apply", "auto_block")
    help = "Show who answers significantly worse than the crowd, and what blocking them leads to; --apply blocks them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--apply", action="store_true", help="block those who are shown, after asking")
        parser.add_argument("--yes", action="store_true", help="do not ask")
        parser.add_argument("--worker", action="append", help="block this one only; may be given several times")
        parser.add_argument(
            "--auto-block",
            choices=["on", "off"],
            help="whether the check after every so many answers blocks by itself from now on",
        )

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        blocking.refuse_without_policy(stage)
        if options["auto_block"]:
            blocking.block_by_itself(stage, options["auto_block"] == "on", None)
        found = blocking.preview(stage, options["worker"])
        self.say(f"The check blocks {'by itself' if stage.auto_block else 'nobody by itself'}.")
        if not found.proposals:
            self.say("Nobody is below the floor.")
            return
        self._show(found)
        if not options["apply"]:
            self.say("Nobody was blocked: this is a preview.")
            return
        cost = dollars(found.loss.cost)
        if not (options["yes"] or agreed(f"Block {len(found.chosen):,} and buy again for at most {cost}? [y/N] ")):
            raise CommandError("Nobody was blocked.")
        self._block(stage, found)

    def _show(self, found: blocking.Preview) -> None:
        rows = [
            (e.worker, e.scored, e.correct, f"{e.accuracy:.1%}", f"{e.interval[0]:.1%}", f"{e.interval[1]:.1%}",
             f"{e.average:.1%}", f"{e.p_value:.2g}", found.answers[e.worker],
             "yes" if e.worker in found.chosen else "no")
            for e in found.proposals
        ]  # fmt: skip
        head = ["worker", "scored", "correct", "accuracy", "low", "high", "crowd", "p", "answers lost", "block"]
        self.table(head, rows)
        self.say(
            f"{found.loss.answers:,} answers would stop counting; at most {found.loss.replacements:,} would be bought "
            f"again for {dollars(found.loss.cost)}, of {dollars(found.left)} left in the budget."
        )

    def _block(self, stage: Stage, found: blocking.Preview) -> None:
        blocking.mark_checked(stage)
        new = blocking.block(stage, found.chosen, None, at_most=found.loss.cost)
        with jobs_run_here():
            tasks.conclude_project(stage.project_id)
        self.say(f"{new:,} workers blocked.")
