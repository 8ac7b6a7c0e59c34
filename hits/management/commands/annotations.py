from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.domain.recipe_rows import newest_run
from hits.flow.data import annotating
from hits.formats.faults import FormatErrors, counted
from hits.management.commands._base import ProjectCommand, agreed
from hits.management.commands.queries import articles_of
from hits.models import ChangeSet


class Command(ProjectCommand):
    changing = ("source", "again", "undo")
    help = "Annotations of articles out and in, and queries made again: what would change is said first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        verbs = parser.add_mutually_exclusive_group(required=True)
        verbs.add_argument("--to", type=Path, metavar="FILE", help="write them as JSON Lines, one article a line")
        verbs.add_argument("--from", type=Path, metavar="FILE", dest="source", help="read such a file")
        verbs.add_argument("--again", action="store_true", help="take what the newest run of generate-again made")
        verbs.add_argument("--undo", type=int, metavar="NUMBER", help="take back all changes of one that is done")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        stage = articles_of(project)
        if options["to"]:
            with options["to"].open("wb") as file:
                file.writelines(annotating.export(stage))
            self.say(f"{stage.summary.items:,} articles written to {options['to']}.")
        elif options["undo"] is not None:
            found = stage.change_sets.filter(pk=options["undo"]).first()
            if found is None:
                raise CommandError(f"There are no changes {options['undo']}.")
            self.say(f"{annotating.undo_together(found, None):,} articles as before.")
        elif options["again"]:
            run = newest_run(project, annotating.AGAIN)
            if run is None:
                raise CommandError(f"Run `manage.py compute {project.slug} {annotating.AGAIN}` first.")
            self._confirm(annotating.propose_run(stage, run, None), options["yes"])
        else:
            self._confirm(self._read(stage, options["source"]), options["yes"])

    def _read(self, stage: Any, file: Path) -> ChangeSet:
        try:
            with file.open("rb") as stream:
                return annotating.propose_file(stage, file.name, stream, None)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
        except FormatErrors as error:
            for fault in error.errors:
                self.stderr.write(f"line {fault.line}, {fault.place}: {fault.message}")
            raise CommandError(f"{counted(error.count, 'fault')} in {file.name}. Nothing was changed.") from error

    def _confirm(self, found: ChangeSet, yes: bool) -> None:
        effect = found.effect
        self.say(f"{effect['items']:,} articles would change.")
        for reason, number in effect["left_out"].items():
            self.say(f"  {number:,} left out: {reason}")
        for name in ("mentions", "kept", "queries", "removed"):
            self.say(f"  {name}: {effect['before'].get(name, 0):,} before, {effect['after'].get(name, 0):,} after")
        if not yes and not agreed("Change them? [y/N] "):
            raise CommandError("Nothing was changed.")
        self.say(f"{annotating.confirm(found, None):,} articles changed, as changes {found.pk}.")
