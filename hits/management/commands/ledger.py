from __future__ import annotations

import csv
from argparse import ArgumentParser
from typing import Any

from hits.domain.books import ENTRY_COLUMNS, entry_lines
from hits.management.commands._base import ProjectCommand, dollars
from hits.models import LedgerEntry


class Command(ProjectCommand):
    changing = ()
    help = "Show every movement of a project's money."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--csv", action="store_true", help="all columns, comma-separated")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["csv"]:
            writer = csv.writer(self.stdout, lineterminator="\n")
            writer.writerow(ENTRY_COLUMNS)
            writer.writerows(entry_lines(project.ledger.all()))
            return
        entries = project.ledger.select_related("stage").order_by("id")
        for entry in entries.iterator(chunk_size=2000):
            stage = entry.stage.key if entry.stage else ""
            self.say(
                f"{entry.pk:>8}  {entry.created_at:%Y-%m-%d %H:%M}  {entry.kind:<10} {stage:<16} reserved "
                f"{dollars(entry.reserved):>12}  paid {dollars(entry.paid):>12}  {_for(entry)} {entry.note}".rstrip()
            )
        account = project.account
        self.say(f"Reserved {dollars(account.reserved)}, paid {dollars(account.paid)}, left {dollars(account.left)}")


def _for(entry: LedgerEntry) -> str:
    """What an entry without an answer of its own is for."""
    if entry.bonus_id:
        return f"bonus {entry.bonus_id}"
    return f"compensation {entry.compensation_id}" if entry.compensation_id else ""
