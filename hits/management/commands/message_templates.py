from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.domain.message_templates import PLACEHOLDERS, of_project
from hits.flow.people import message_templates as flow
from hits.management.commands._base import ProjectCommand
from hits.models import Project
from hits.models.messages import LONGEST_TEXT


class Command(ProjectCommand):
    changing = ("save", "remove")
    help = "List the texts that messages to workers begin with; show one, keep one, or remove it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--show", metavar="NAME", help="print this one")
        what.add_argument("--save", metavar="NAME", help="keep it under this name, also where there is one already")
        what.add_argument("--remove", metavar="NAME", help="remove this one")
        names = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        parser.add_argument("--subject", default="", help="of the one that is kept")
        parser.add_argument("--text", metavar="FILE", help=f"a file with its text; placeholders: {names}")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["show"] is not None:
            row = project.message_templates.get(pk=self._pk(project, options["show"]))
            self.say(f"Subject: {row.subject}\n\n{row.text}")
            return
        if options["save"] is not None:
            self._save(project, options)
        elif options["remove"] is not None:
            flow.remove(project, self._pk(project, options["remove"]), None)
        rows = [[row.name, row.subject, f"{row.changed_at:%Y-%m-%d %H:%M}"] for row in of_project(project)]
        self.table(["template", "subject", "changed (UTC)"], rows)

    def _save(self, project: Project, options: dict[str, Any]) -> None:
        row = project.message_templates.filter(name=options["save"]).first()
        given = {"name": options["save"], "subject": options["subject"], "text": _read(options["text"])}
        flow.save(project, given, None, row.pk if row else None)

    def _pk(self, project: Project, name: str) -> int:
        row = project.message_templates.filter(name=name).first()
        if row is None:
            raise CommandError(f"{project.slug} has no message template {name!r}.")
        return row.pk


def _read(name: str | None) -> str:
    if name is None:
        return ""
    try:
        with Path(name).open(encoding="utf-8") as file:
            return file.read(2 * LONGEST_TEXT)
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{name} cannot be read as text: {error}") from error
