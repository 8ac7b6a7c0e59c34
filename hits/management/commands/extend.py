from __future__ import annotations

from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from hits.flow.pipeline import publishing, sending
from hits.management.commands._base import StageCommand, describe
from hits.models import Batch


class Command(StageCommand):
    help = "Keep every open HIT of a stage open for longer; `expire` closes them early."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("hours", type=int, nargs="?", help="added to the time at which the last open HIT closes")
        parser.add_argument("--until", metavar="TIME", help="the new closing time, such as 2026-12-31T18:00 (UTC)")

    def run(self, options: dict[str, Any]) -> None:
        batch = self._extend(options)
        sending.send(batch.pk)
        self.say(describe(batch))

    def _extend(self, options: dict[str, Any]) -> Batch:
        stage, hours, until = self.stage(options), options["hours"], options["until"]
        if (hours is None) == (until is None):
            raise CommandError("Give either the hours or --until.")
        if until is not None:
            return publishing.extend_until(stage, _moment(until), None)
        if not 1 <= hours <= publishing.MOST_HOURS:
            raise CommandError(f"The hours must be from 1 to {publishing.MOST_HOURS:,}.")
        return publishing.extend(stage, hours * 3600, None)


def _moment(text: str) -> datetime:
    try:
        found = parse_datetime(text)
    except ValueError:
        found = None
    if found is None:
        raise CommandError(f"{text!r} is not a time such as 2026-12-31T18:00.")
    return found if timezone.is_aware(found) else timezone.make_aware(found, timezone.get_default_timezone())
