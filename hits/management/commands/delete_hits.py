from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits.domain import hit_plans
from hits.flow.pipeline import publishing, sending
from hits.management.commands._base import StageCommand, agreed, describe


class Command(StageCommand):
    help = (
        "Delete a stage's finished HITs at the marketplace, for good. Answers, verdicts and the ledger stay here; "
        "rejections on these HITs can no longer be taken back."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        count = hit_plans.clearable(stage).count()
        question = f"Delete {count:,} finished HITs at the marketplace? This cannot be undone. [y/N] "
        if count and not options["yes"] and not agreed(question):
            raise CommandError("Nothing was deleted.")
        batch = publishing.delete_hits(stage, None)
        sending.send(batch.pk)
        self.say(describe(batch))
