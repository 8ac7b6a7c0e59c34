from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from hits.flow.people import blocking
from hits.flow.pipeline import advancing, publishing
from hits.flow.setup import setting_up
from hits.management.commands._base import StageCommand, dollars
from hits.management.commands.create_project import money
from hits.models import Stage

_SWITCHES = {
    "auto-publish": "items that arrive from the stage before go out by themselves",
    "auto-block": "the check of workers blocks by itself",
    "advance-approved": "of answers that are held for review, only approved ones go on to later stages",
}


class Command(StageCommand):
    help = "A stage's pay and what goes on by itself; with options, change them. 0 expected seconds: as its text says."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--reward", type=money, help="dollars an answer, until workers have seen the task")
        parser.add_argument("--expected-seconds", type=int, help="what an answer takes until times are measured")
        for name, told in _SWITCHES.items():
            parser.add_argument(f"--{name}", action=BooleanOptionalAction, help=told)

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        with transaction.atomic():
            _change(stage, options)
        stage.refresh_from_db()
        self.say(f"{stage.title}: {dollars(stage.reward)} an answer")
        self.say(f"expected seconds    {stage.expected_seconds or 'as its description says'}")
        for name in _SWITCHES:
            self.say(f"{name:<19} {'yes' if getattr(stage, name.replace('-', '_')) else 'no'}")


def _change(stage: Stage, options: dict[str, Any]) -> None:
    if options["reward"] is not None:
        if not options["reward"]:
            raise CommandError("--reward must be 0.01 or more.")
        publishing.change_pay(stage, Decimal(options["reward"]))
    if options["expected_seconds"] is not None:
        if not 0 <= options["expected_seconds"] <= 86_400:
            raise CommandError("--expected-seconds must be from 0 to 86400.")
        setting_up.expect_seconds(stage, options["expected_seconds"] or None)
    if options["auto_publish"] is not None:
        publishing.publish_by_itself(stage, options["auto_publish"])
    if options["auto_block"] is not None:
        blocking.block_by_itself(stage, options["auto_block"], None)
    if options["advance_approved"] is not None:
        advancing.only_approved(stage, options["advance_approved"], None)
