from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits.flow.pipeline import importing
from hits.management.commands._base import ProjectCommand
from hits.models import Upload


class Command(ProjectCommand):
    changing = ("upload",)
    help = "Stop an import that waits or runs: nothing of its file is stored. Without a number, list the imports."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("upload", nargs="?", type=int, help="the import's number")

    def run(self, options: dict[str, Any]) -> None:
        uploads = self.project(options).uploads
        if options["upload"] is None:
            rows = [(row.pk, row.name, row.get_state_display(), row.done) for row in uploads.all()[:20]]
            return self.table(["number", "file", "state", "texts read"], rows)
        row = uploads.filter(pk=options["upload"]).first()
        if row is None:
            raise CommandError(f"This project has no import {options['upload']}.")
        if not importing.stop(row):
            row = Upload.objects.get(pk=row.pk)
            raise CommandError(f"It had ended already: {row.get_state_display().lower()}.")
        self.say(f"Stopped. Nothing of {row.name} was imported.")
