from __future__ import annotations

from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError

from hits import tasks
from hits.domain.block_losses import Loss
from hits.flow.people import blocking
from hits.management.commands._base import StageCommand, agreed, dollars, jobs_run_here, share
from hits.models import Stage


class Command(StageCommand):
    changing = ("apply", "auto_block", "pause")
    help = "Show who answers significantly worse than the crowd, and what blocking them leads to; --apply blocks them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--apply", action="store_true", help="block those who are shown, after asking")
        parser.add_argument("--yes", action="store_true", help="do not ask")
        parser.add_argument("--worker", action="append", help="block this one only; may be given several times")
        parser.add_argument(
            "--pause", type=int, metavar="HOURS", help="pause the workers of --worker for so many hours instead"
        )
        parser.add_argument(
            "--reason", help="block the workers of --worker by hand for this reason, whatever the policy says"
        )
        parser.add_argument(
            "--tell",
            nargs="?",
            const="",
            metavar="WHY",
            help="write to each worker why and what happens to their answers; with --reason, WHY is what they read",
        )
        parser.add_argument(
            "--auto-block",
            choices=["on", "off"],
            help="whether the check after every so many answers blocks by itself from now on",
        )

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        if options["pause"] is not None:
            self._pause(stage, options)
            return
        if options["reason"] is not None:
            self._by_hand(stage, options)
            return
        blocking.refuse_without_policy(stage)
        if options["auto_block"]:
            blocking.block_by_itself(stage, options["auto_block"] == "on", None)
        found = blocking.preview(stage, options["worker"])
        self.say(f"The check blocks {'automatically' if stage.auto_block else 'nobody automatically'}.")
        if not found.proposals:
            self.say("Nobody is below the floor.")
            return
        self._show(found)
        if not options["apply"]:
            self.say("Nobody was blocked: this is a preview.")
            return
        self._ask(len(found.chosen), found.loss, options)
        blocking.mark_checked(stage)
        tell = options["tell"] is not None
        self._done(stage, blocking.block(stage, found.chosen, None, at_most=found.loss.cost, tell=tell))

    def _pause(self, stage: Stage, options: dict[str, Any]) -> None:
        if not options["worker"]:
            raise CommandError("Name the workers: --worker ID, for each of them.")
        new = blocking.pause(stage, options["worker"], options["pause"], options["reason"] or "", None)
        blocking.finish(stage)
        self.say(f"{new:,} workers paused for {options['pause']:,} hours.")

    def _by_hand(self, stage: Stage, options: dict[str, Any]) -> None:
        if not options["worker"]:
            raise CommandError("Name the workers: --worker ID, for each of them.")
        found = blocking.preview_chosen(stage, options["worker"])
        rows = [
            (
                row.stat.worker.worker_id,
                found.answers[row.stat.worker.worker_id],
                share(row.known),
                share(row.agreement),
                row.why or "–",
            )
            for row in found.rows
        ]
        self.table(["worker", "answers lost", "gold answers", "agreement", "what stands out"], rows)
        self._follows(found.loss, found.left)
        if not options["apply"] or not rows:
            self.say("Nobody was blocked: this is a preview.")
            return
        self._ask(len(rows), found.loss, options)
        ids = [row.stat.worker.worker_id for row in found.rows]
        new = blocking.intend_by_hand(
            stage, ids, options["reason"], None, at_most=found.loss.cost, told=options["tell"]
        )
        blocking.finish(stage)
        self._done(stage, new)

    def _ask(self, count: int, loss: Loss, options: dict[str, Any]) -> None:
        question = f"Block {count:,} and buy again for at most {dollars(loss.cost)}? [y/N] "
        if not (options["yes"] or agreed(question)):
            raise CommandError("Nobody was blocked.")

    def _show(self, found: blocking.Preview) -> None:
        rows = [
            (e.worker, e.scored, e.correct, f"{e.accuracy:.1%}", f"{e.interval[0]:.1%}", f"{e.interval[1]:.1%}",
             f"{e.average:.1%}", f"{e.p_value:.2g}", found.answers[e.worker],
             "yes" if e.worker in found.chosen else "no")
            for e in found.proposals
        ]  # fmt: skip
        head = ["worker", "scored", "correct", "accuracy", "low", "high", "crowd", "p", "answers lost", "block"]
        self.table(head, rows)
        self._follows(found.loss, found.left)

    def _follows(self, loss: Loss, left: Decimal) -> None:
        self.say(
            f"{loss.answers:,} answers would stop counting; at most {loss.replacements:,} would be bought "
            f"again for {dollars(loss.cost)}, of {dollars(left)} left in the budget."
        )

    def _done(self, stage: Stage, new: int) -> None:
        with jobs_run_here():
            tasks.send_messages(stage.project_id)
            tasks.conclude_project(stage.project_id)
        self.say(f"{new:,} workers blocked.")
