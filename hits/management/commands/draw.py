from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits.flow.pipeline import drawing
from hits.formats.faults import counted
from hits.management.commands._base import StageCommand, agreed


class Command(StageCommand):
    help = "Say how many items there are to draw from, ask, and draw a sample into a stage. Publishes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--items", type=int, help="how many; by default as many as the recipe says")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        quote = drawing.quote(stage)
        count = stage.draws if options["items"] is None else options["items"]
        self.say(f"{quote.there:,} items to sample from, {quote.here:,} in {stage.key} already.")
        if not options["yes"] and not agreed(f"Sample {counted(min(count, quote.there), 'item')}? [y/N] "):
            raise CommandError("Nothing was sampled.")
        self.say(f"{drawing.draw(stage, count):,} new items sampled into {stage.key}.")
