from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits.flow import publishing, sending
from hits.management.commands._base import StageCommand, describe

A_YEAR = 365 * 24


class Command(StageCommand):
    help = "Keep every open HIT of a stage open for so many hours from now."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("hours", type=int)

    def run(self, options: dict[str, Any]) -> None:
        if not 1 <= options["hours"] <= A_YEAR:
            raise CommandError(f"The hours must be from 1 to {A_YEAR:,}.")
        batch = publishing.extend(self.stage(options), options["hours"] * 3600, None)
        sending.send(batch.pk)
        self.say(describe(batch))
