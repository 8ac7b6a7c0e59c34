from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from django.core.management.base import CommandError

from hits.management.base import OperatorCommand
from hits.publishing.jobs import reconciling
from hits.publishing.rules import restorations
from hits.publishing.rules.reconciliation import KINDS, Line

SHOWN = 20


class Command(OperatorCommand):
    help = (
        "After the database was restored from a backup: bring this side to what the marketplace says, and list what "
        "was changed and what nobody can know. Until both sides agree nothing is bought or paid. Once more changes "
        "nothing. Exit code 1 while something has to be done."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="list it, and change nothing")
        parser.add_argument(
            "--close-unknown", action="store_true", help="close the HITs about items that are not here, and go on"
        )
        parser.add_argument(
            "--leave-unknown",
            action="store_true",
            help="go on although not all is known: what is listed stays as it is",
        )
        parser.add_argument(
            "--restored",
            type=datetime.fromisoformat,
            metavar="MOMENT",
            help="the database was put back to this moment by another way than `manage.py restore`, as by a snapshot "
            "of the disk; such as 2026-11-21T03:00+00:00",
        )

    def run(self, options: dict[str, Any]) -> None:
        if moment := options["restored"]:
            restorations.begin(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
        found = reconciling.reconcile(
            dry_run=options["dry_run"],
            close_unknown=options["close_unknown"],
            leave_unknown=options["leave_unknown"],
        )
        self._name("Would be changed:" if options["dry_run"] else "Changed:", found.report.changes)
        self._name("Not known:", found.report.unknown)
        if not found.agrees:
            raise CommandError("The two sides do not agree yet. Do what is said above and reconcile again.")
        if options["dry_run"]:
            self.say("Nothing was changed: this was a dry run.")
        elif found.report.changes:
            self.say("The two sides agree now. Compare the books next: manage.py check_ledger PROJECT --deep.")
        else:
            self.say("The two sides agree. Nothing had to be changed.")

    def _name(self, title: str, lines: Sequence[Line]) -> None:
        """Each kind with its first rows."""
        if lines:
            self.say(title)
        for key, rows in groupby(sorted(lines, key=lambda line: line.kind), key=lambda line: line.kind):
            found = list(rows)
            self.say(f"{len(found):,} x {KINDS[key].title} {KINDS[key].remedy}".rstrip())
            for line in found[:SHOWN]:
                self.say(f"    {line.project}: {line.subject}{f' ({line.said})' if line.said else ''}")
            if len(found) > SHOWN:
                self.say(f"    and {len(found) - SHOWN:,} more")
