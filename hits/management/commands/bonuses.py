from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.flow.payments import ordering
from hits.formats.payments import MOST_BYTES
from hits.management.commands.bonus import BonusCommand
from hits.models import Project


class Command(BonusCommand):
    help = "Pay the bonuses of a CSV file (assignment_id, amount, reason, perhaps worker_id): all, or none and why."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path)

    def source(self, options: dict[str, Any]) -> tuple[str, bytes]:
        file: Path = options["file"]
        try:
            # One byte more than is taken, so that `ordering` sees what is too large.
            with file.open("rb") as opened:
                return file.name, opened.read(MOST_BYTES + 1)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error

    def asked(self, project: Project, content: bytes, options: dict[str, Any]) -> Sequence[ordering.NewBonus]:
        return ordering.read_file(project, content)
