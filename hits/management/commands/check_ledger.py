from __future__ import annotations

from argparse import ArgumentParser
from decimal import Decimal
from itertools import groupby
from typing import Any

from django.core.management.base import CommandError

from hits.management.base import OperatorCommand, dollars
from hits.models import LedgerCheck, Project
from hits.payments.rules.ledger_differences import KINDS
from hits.payments.verbs import checking_ledger

SHOWN = 20


class Command(OperatorCommand):
    help = (
        "Compare a project's account with its entries, its entries with answers and payments, and all of them with "
        "what the marketplace holds. Every difference is named. Exit code 1 when there is one that does not pass by "
        "itself. The comparison is kept and shown on the ledger's page."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's slug, as in its address")
        parser.add_argument("--deep", action="store_true", help="look at every answer and bonus, three calls a HIT")
        parser.add_argument(
            "--strict",
            action="store_true",
            help="fail also on what is normal while calls are under way, and when the marketplace does not answer",
        )

    def run(self, options: dict[str, Any]) -> None:
        project = Project.objects.select_related("account").filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        check = checking_ledger.check(project, None, deep=options["deep"])
        if check.state == LedgerCheck.State.RUNNING:
            raise CommandError("Another process compares these books right now. Ask again in a moment.")
        figures = [(what, dollars(Decimal(one)), dollars(Decimal(other))) for what, one, other in check.figures]
        self.table(["sum: one side, other side", "one side", "other side"], figures)
        self._name(check.faults)
        if check.in_flight:
            self.say("Normal at the moment:")
            self._name(check.in_flight)
        if check.message:
            self.say(check.message)
        self._conclude(check, options["strict"])

    def _name(self, differences: list[dict[str, Any]]) -> None:
        """Each kind with what to do about it, and its first rows."""
        for key, found in groupby(sorted(differences, key=lambda one: str(one["kind"])), key=lambda one: one["kind"]):
            rows = list(found)
            self.say(f"{len(rows):,} x {KINDS[key].title} {KINDS[key].remedy}")
            for row in rows[:SHOWN]:
                self.say(f"    {row['subject']}: {row['books'] or '–'} here, {row['marketplace'] or '–'} there")
            if len(rows) > SHOWN:
                self.say(f"    and {len(rows) - SHOWN:,} more, on the ledger's page")

    def _conclude(self, check: LedgerCheck, strict: bool) -> None:
        wrong = check.differences if strict else check.faults
        if wrong:
            kinds = sorted({str(one["kind"]) for one in wrong})
            raise CommandError(f"These do not agree: {', '.join(kinds)}.")
        if check.state == LedgerCheck.State.FAILED:
            if strict:
                raise CommandError("The marketplace was not compared.")
            self.say("The project's own books agree.")
        else:
            self.say("The books agree.")
