from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from hits.flow.data import undoing
from hits.management.commands._base import SHOWN, ProjectCommand
from hits.models import Label, Stage
from hits.protocols.optional import Change


class Command(ProjectCommand):
    changing = ("undo", "redo")
    help = (
        "List what answers change in the items that they are about, newest first, in all stages or one; take some "
        "back, or let those count again that were taken back. That may be turned round at any time."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("stage", nargs="?", help="its key; without it, all stages")
        parser.add_argument("--before", type=int, metavar="NUMBER", help="list the changes before this one")
        verbs = parser.add_mutually_exclusive_group()
        verbs.add_argument("--undo", type=int, nargs="+", metavar="NUMBER", help="take these changes back")
        verbs.add_argument("--redo", type=int, nargs="+", metavar="NUMBER", help="let these count again")

    def run(self, options: dict[str, Any]) -> None:
        stages = self.stages(options)
        numbers = options["undo"] or options["redo"]
        if numbers is None:
            for stage in stages:
                self._list(stage, options["before"])
            return
        _refuse_missing(stages, numbers)
        with transaction.atomic():
            turn = undoing.undo if options["undo"] else undoing.redo
            done = sum(turn(number, None) for number in dict.fromkeys(numbers))
        self.say(f"{done:,} changes {'taken back' if options['undo'] else 'count again'}.")

    def _list(self, stage: Stage, before: int | None) -> None:
        protocol = undoing.changing(stage)
        rows = undoing.changes(stage).order_by("-pk")
        for label in (rows if before is None else rows.filter(pk__lt=before))[:SHOWN]:
            self._show(stage, label, undoing.change_of(label, protocol))

    def _show(self, stage: Stage, label: Label, change: Change) -> None:
        why = f" ({change.reason})" if change.reason else ""
        ended = " Taken back." if label.undone_at else " Does not count." if label.void else ""
        self.say(
            f"{label.pk}  {stage.key}, {label.item.key}, {change.title}: {change.action}{why}, "
            f"by {label.worker.worker_id}.{ended}"
        )
        after: Mapping[str, str] = change.after or {}
        for name in dict.fromkeys([*change.before, *after]):
            self.say(f"    {name}: {change.before.get(name, '–')} -> {after.get(name, '–')}")


def _refuse_missing(stages: list[Stage], numbers: list[int]) -> None:
    found = {
        pk for stage in stages for pk in undoing.changes(stage).filter(pk__in=numbers).values_list("pk", flat=True)
    }
    missing = [str(number) for number in numbers if number not in found]
    if missing:
        raise CommandError(f"There are no such changes here: {', '.join(missing)}. Nothing was changed.")
