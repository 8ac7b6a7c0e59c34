from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.domain.wanted_answers import by_priority
from hits.flow.pipeline import prioritizing
from hits.formats.item_values import read_priorities
from hits.management.commands._base import SHOWN, StageCommand
from hits.models import Item
from hits.templatetags.figures import plain
from hits.text.amounts import agreeing, amount


class Command(StageCommand):
    changing = ("set",)
    help = "List the items that are published next, or change the priorities of items that are not published."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--set", type=Path, metavar="FILE", help="a table with the columns item and priority")

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        if path := options["set"]:
            try:
                with path.open("rb") as file:
                    changed = prioritizing.prioritize(stage, read_priorities(file, path.name), None)
            except OSError as error:
                raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
            has = agreeing(changed, "has", "have")
            return self.say(f"{amount(changed, 'item')} of {stage.key} {has} another priority now.")
        rows: list[tuple[str, str]] = []
        for part in by_priority(stage.items.filter(state=Item.State.NEW)):
            found = part.values_list("key", "priority")[: SHOWN - len(rows)]
            rows += [(key, "–" if priority is None else plain(priority)) for key, priority in found]
        self.table(("published next", "priority"), rows)
        if (waiting := stage.items.filter(state=Item.State.NEW).count()) > len(rows):
            self.say(f"The next {len(rows):,} of {waiting:,}.")
        return None
