from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits import tasks
from hits.flow.people import blocking
from hits.management.commands._base import ProjectCommand, dollars, jobs_run_here


class Command(ProjectCommand):
    help = "Undo the blocks of workers: they may work again, and their answers count again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("workers", nargs="+", metavar="worker", help="ids at the marketplace")
        parser.add_argument("--preview", action="store_true", help="only say what undoing leads to")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        standing = project.blocks.standing().select_related("stage__project", "worker")
        blocks = {row.worker.worker_id: row for row in standing.filter(worker__worker_id__in=options["workers"])}
        missing = [worker_id for worker_id in options["workers"] if worker_id not in blocks]
        if missing:
            raise CommandError(f"Not blocked in {project.slug}: {', '.join(missing)}. Nothing was changed.")
        for worker_id, row in blocks.items():
            self.say(f"{worker_id}: {_described(blocking.undo_preview(row))}")
        if options["preview"]:
            self.say("Nothing was changed: this is a preview.")
            return
        for row in blocks.values():
            blocking.undo(row, None)
        with jobs_run_here():
            tasks.conclude_project(project.pk)
        self.say(f"{len(blocks):,} blocks undone.")


def _described(found: blocking.Return) -> str:
    closed = f"{found.hits:,} HITs with {found.places:,} answers to come are closed, {dollars(found.released)} at most"
    return f"{found.answers:,} answers count again; {closed} goes back to the budget."
