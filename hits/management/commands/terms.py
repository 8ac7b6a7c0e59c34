from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.domain.terms import answers_by_version, not_asked_in
from hits.flow.setup import terms as flow
from hits.management.commands._base import ProjectCommand
from hits.models import Project
from hits.models.terms import LONGEST


class Command(ProjectCommand):
    changing = ("save", "withdraw")
    help = "List the versions of the terms that workers agree to; show one, save the next one, or withdraw them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--show", type=int, metavar="VERSION", help="print the text of this version")
        what.add_argument("--save", metavar="FILE", help="make the next version of this file's text, in Markdown")
        what.add_argument("--withdraw", action="store_true", help="ask no worker to agree any more")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["show"] is not None:
            return self._show(project, options["show"])
        if options["save"] is not None:
            made, is_new = flow.save(project, _read(options["save"]), None)
            self.say(f"Version {made.version} stands{'' if is_new else ' already'}.")
        elif options["withdraw"]:
            self.say(f"Version {flow.withdraw(project, None).version} is withdrawn.")
        return self._list(project)

    def _show(self, project: Project, version: int) -> None:
        row = project.terms.filter(version=version).first()
        if row is None:
            raise CommandError(f"{project.slug} has no version {version} of its terms.")
        self.say(row.text)

    def _list(self, project: Project) -> None:
        rows = [
            [row.version, f"{row.made_at:%Y-%m-%d %H:%M}", f"{row.ended_at:%Y-%m-%d %H:%M}" if row.ended_at else "–", n]
            for row, n in answers_by_version(project)
        ]
        self.table(["version", "from (UTC)", "until (UTC)", "answers"], rows)
        for stage in not_asked_in(project):
            self.say(f"{stage.key} shows a page of your own, which cannot ask for this.")


def _read(name: str) -> str:
    try:
        # More than may be written is refused with its length; a far larger file is not read for that.
        with Path(name).open(encoding="utf-8") as file:
            return file.read(2 * LONGEST)
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{name} cannot be read as text: {error}") from error
