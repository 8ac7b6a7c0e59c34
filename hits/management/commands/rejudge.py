from __future__ import annotations

from argparse import ArgumentParser
from operator import attrgetter
from typing import Any

from django.utils import timezone

from hits.flow.pipeline import deciding
from hits.flow.setup import ruling
from hits.management.commands._base import ProjectCommand
from hits.models import Stage

SHOWN = 50


class Command(ProjectCommand):
    help = (
        "Judge every item again with the stored rule and print what differs; no line means that the same answers "
        "gave the same verdicts. The next harvest takes new verdicts on to the next stage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("stage", nargs="?", help="one stage; all by default")

    def run(self, options: dict[str, Any]) -> None:
        for stage in filter(attrgetter("crowd"), self.stages(options)):
            self._rejudge(stage)

    def _rejudge(self, stage: Stage) -> None:
        began = timezone.now()
        stage.items.update(stale=True)
        judged = deciding.decide(stage)
        changed = ruling.differences(stage, began)
        rule = f"{stage.rule['name']} {stage.rule['version']}"
        self.say(f"{stage.key}: {judged:,} items judged with {rule}, {len(changed):,} differ")
        for one in changed[:SHOWN]:
            self.say(f"  {one.key}: {one.before} -> {one.after}")
        for move in ruling.moves_of(changed):
            self.say(f"  {move.items:,} {move.before} -> {move.after}")
