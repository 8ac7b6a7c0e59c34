from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.domain.anchoring import Line, report
from hits.flow.pipeline import suggesting
from hits.formats.item_values import read_suggestions
from hits.management.commands._base import StageCommand, share
from hits.quality.anchoring import Interval
from hits.text.amounts import agreeing, amount


class Command(StageCommand):
    changing = ("add",)
    help = "Print how far workers follow the suggestions of a model, or give items that are not published suggestions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--add", type=Path, metavar="FILE", help="a table with the columns item, field, value, score, model"
        )

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        if path := options["add"]:
            try:
                with path.open("rb") as file:
                    found = suggesting.suggest(stage, read_suggestions(file, path.name), None)
            except OSError as error:
                raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
            return self.say(f"{amount(found.new, 'new suggestion')} in {stage.key}, {found.replaced:,} replaced.")
        told = report(stage)
        are = agreeing(told.counted, "is", "are")
        self.say(
            f"{amount(told.suggestions, 'suggestion')} for {amount(told.items, 'item')} of {stage.key}; "
            f"{told.counted:,} of {amount(told.answers, 'answer')} to them {are} compared."
        )
        lines = [(field.field, line) for field in told.fields for line in field.lines]
        if lines:
            head = ("field", "suggestions", "agree, shown", "agree, hidden", "difference", "doubts that follow")
            self.table(head, [(name, line.kind, *_cells(line)) for name, line in lines])
        for name, line in lines:
            if line.why:
                self.say(f"{name}, {line.kind}: {line.why}")
        return None


def _cells(line: Line) -> tuple[str, str, str, str]:
    found = line.found
    return (
        f"{share(found.shown.share)} of {found.shown.of:,}",
        f"{share(found.hidden.share)} of {found.hidden.of:,}",
        _figure(found.difference, found.difference_interval),
        _figure(found.followed, found.followed_interval),
    )


def _figure(value: float | None, interval: Interval | None) -> str:
    return "–" if value is None or interval is None else f"{value:.1%} ({interval.low:.1%} to {interval.high:.1%})"
