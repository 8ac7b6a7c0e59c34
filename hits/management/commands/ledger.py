from __future__ import annotations

from argparse import ArgumentParser
from datetime import date
from typing import Any

from common.spreadsheet import csv_lines
from hits.domain import ledger_lists
from hits.domain.books import ENTRY_COLUMNS, entry_lines
from hits.domain.ledger_lists import EntryFilter
from hits.management.commands._base import ProjectCommand, dollars
from hits.models import LedgerEntry


class Command(ProjectCommand):
    changing = ()
    help = "Show every movement of a project's money."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--csv", action="store_true", help="all columns, comma-separated")
        parser.add_argument("--kind", choices=LedgerEntry.Kind.values, default="")
        parser.add_argument("--stage", default="", metavar="KEY")
        parser.add_argument("--worker", default="", metavar="ID")
        parser.add_argument("--since", type=date.fromisoformat, metavar="YYYY-MM-DD", help="the first day, in UTC")
        parser.add_argument("--until", type=date.fromisoformat, metavar="YYYY-MM-DD", help="the last day, in UTC")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        names = ("kind", "stage", "worker", "since", "until")
        chosen = ledger_lists.chosen(project, EntryFilter(**{name: options[name] for name in names}))
        if options["csv"]:
            self.stdout.writelines(csv_lines(ENTRY_COLUMNS, entry_lines(chosen), "\n"))
            return
        entries = chosen.select_related("stage").order_by("id")
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
