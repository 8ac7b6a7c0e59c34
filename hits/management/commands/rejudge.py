from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from typing import Any

from hits.flow import deciding
from hits.management.commands._base import ProjectCommand
from hits.models import Stage, Verdict

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
        for stage in self.stages(options):
            self._rejudge(stage)

    def _rejudge(self, stage: Stage) -> None:
        before = _standing(stage)
        stage.items.update(stale=True)
        judged = deciding.decide(stage)
        after = _standing(stage)
        changed = [key for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)]
        rule = f"{stage.rule['name']} {stage.rule['version']}"
        self.say(f"{stage.key}: {judged:,} items judged with {rule}, {len(changed):,} differ")
        for key in changed[:SHOWN]:
            self.say(f"  {key}: {before.get(key, 'open')} -> {after.get(key, 'open')}")
        moves = Counter(f"{before.get(key, 'open')} -> {after.get(key, 'open')}" for key in changed)
        for move, count in sorted(moves.items()):
            self.say(f"  {count:,} {move}")


def _standing(stage: Stage) -> dict[str, str]:
    rows = Verdict.objects.filter(item__stage=stage, superseded_at=None)
    return dict(rows.values_list("item__key", "outcome").iterator(chunk_size=5000))
