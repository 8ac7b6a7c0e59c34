from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from hits.flow.people import reviewing
from hits.management.commands.approve import ReviewCommand
from hits.models import Stage


class Command(ReviewCommand):
    help = "Reject answers that wait for review, with a reason; their items are asked again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--feedback", required=True, help="the reason; the workers read it")

    def decide(self, stage: Stage, pks: Sequence[int], options: dict[str, Any]) -> int:
        return reviewing.reject(stage, pks, options["feedback"], None)
