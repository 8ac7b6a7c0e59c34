from __future__ import annotations

import csv
from argparse import ArgumentParser
from typing import Any

from hits.management.commands._base import ProjectCommand, dollars

COLUMNS = ["id", "created_at", "kind", "stage", "reserved", "paid", "fee", "batch", "hit", "assignment", "note"]


class Command(ProjectCommand):
    help = "Show every movement of a project's money."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--csv", action="store_true", help="all columns, comma-separated")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        entries = project.ledger.order_by("id").values_list(
            "id", "created_at", "kind", "stage__key", "reserved", "paid", "fee", "batch", "hit__hit_id",
            "assignment__assignment_id", "note",
        )  # fmt: skip
        if options["csv"]:
            writer = csv.writer(self.stdout, lineterminator="\n")
            writer.writerow(COLUMNS)
            for number, created_at, *rest in entries.iterator(chunk_size=2000):
                writer.writerow([number, created_at.isoformat(), *rest])
            return
        for number, created_at, kind, stage, reserved, paid, *_, note in entries.iterator(chunk_size=2000):
            self.say(
                f"{number:>8}  {created_at:%Y-%m-%d %H:%M}  {kind:<8} {stage or '':<16} "
                f"reserved {dollars(reserved):>12}  paid {dollars(paid):>12}  {note}".rstrip()
            )
        account = project.account
        self.say(f"Reserved {dollars(account.reserved)}, paid {dollars(account.paid)}, left {dollars(account.left)}")
