from __future__ import annotations

import csv
from argparse import ArgumentParser
from typing import Any

from hits.domain import stage_statistics, worker_table
from hits.domain.competences import Estimates
from hits.flow.people import comparing
from hits.management.commands._base import StageCommand, dollars, share


class Command(StageCommand):
    changing = ()
    help = (
        "Show the figures of a stage's workers: known answers, agreement with the others, times, runs, competence, "
        "pay, and what stands out."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        names = [name for order in worker_table.ORDERS for name in (order, f"-{order}")]
        parser.add_argument(
            "--sort",
            choices=names,
            metavar="COLUMN",
            default=worker_table.FIRST,
            help=f"one of {', '.join(worker_table.ORDERS)}; from the highest on with --sort=-COLUMN",
        )
        parser.add_argument("--csv", action="store_true", help="all columns as CSV")

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        comparing.compare_when_due(stage)
        rows = list(worker_table.all_rows(stage, options["sort"]))
        if options["csv"]:
            writer = csv.writer(self.stdout, lineterminator="\n")
            writer.writerow(worker_table.COLUMNS)
            writer.writerows(row.cells() for row in rows)
            return
        self.table(
            ["worker", "answers", "known answers", "agreement", "beyond chance", "median s", "run", "competence",
             "earned", "state", "what stands out"],
            [_cells(row) for row in rows],
        )  # fmt: skip
        self.stdout.write(_told(stage_statistics.estimates_of(stage)))


def _told(found: Estimates) -> str:
    """Of which run the competence is, or why there is none."""
    if found.why or found.at is None:
        return f"Competence: {found.why or 'none'}"
    return f"Competence: {found.method}, as computed at {found.at:%Y-%m-%d %H:%M} UTC."


def _cells(row: worker_table.WorkerRow) -> list[object]:
    stat = row.stat
    low, high = row.known_interval
    known = f"{share(row.known)} ({low:.0%} to {high:.0%} of {stat.scored:,})" if stat.scored else "–"
    low, high = row.agreement_interval
    agreement = f"{share(row.agreement)} ({low:.0%} to {high:.0%} of {stat.compared:,})" if stat.compared else "–"
    seconds = "–" if stat.median_seconds is None else f"{stat.median_seconds:.1f}"
    return [
        stat.worker.worker_id, stat.answers, known, agreement, share(row.beyond_chance), seconds, stat.longest_run,
        share(row.competence), dollars(stat.earned), row.state, stat.why or "–",
    ]  # fmt: skip
