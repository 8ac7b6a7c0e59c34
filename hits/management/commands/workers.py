from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from common.spreadsheet import csv_lines
from hits.domain import stage_statistics, worker_confusion, worker_table
from hits.domain.answer_words import DIFFER
from hits.domain.competences import Estimates
from hits.flow.people import comparing
from hits.management.commands._base import StageCommand, dollars, share
from hits.models import Stage


class Command(StageCommand):
    changing = ()
    help = (
        "Show the figures of a stage's workers: gold answers, agreement with the others, times, runs, competence, "
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
        parser.add_argument(
            "--confusion", metavar="WORKER", help="what this worker said beside the values of the items"
        )

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        if options["confusion"]:
            return self._confusion(stage, options["confusion"])
        comparing.compare_when_due(stage)
        rows = list(worker_table.all_rows(stage, options["sort"]))
        if options["csv"]:
            self.stdout.writelines(csv_lines(worker_table.COLUMNS, (row.cells() for row in rows), "\n"))
            return
        self.table(
            ["worker", "answers", "gold answers", "agreement", "beyond chance", "median s", "run", "competence",
             "earned", "state", "what stands out"],
            [_cells(row) for row in rows],
        )  # fmt: skip
        self.stdout.write(_told(stage_statistics.estimates_of(stage)))

    def _confusion(self, stage: Stage, worker_id: str) -> None:
        stat = stage.worker_stats.select_related("worker").filter(worker__worker_id=worker_id).first()
        if stat is None:
            raise CommandError(f"Nobody of this stage: {worker_id}.")
        found = worker_confusion.of_worker(stage, stat.worker)
        if not found:
            raise CommandError(f"There are no values yet: agreement {stage.project.slug} {stage.key} --compute")
        for one in found:
            self.say(f"{one.unit}: {one.same:,} of {one.items:,} the same")
            rows = [(label, *cells) for label, cells in zip(one.read, one.table, strict=True)]
            self.table(["value", *(f"said {label}" for label in one.read)], rows)
            if one.differ:
                self.say(DIFFER)


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
        share(row.competence), dollars(stat.earned), row.state, row.why or "–",
    ]  # fmt: skip
