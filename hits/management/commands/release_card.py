from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.domain.release_cards import FIELDS, LONGEST, RELEASED, TEXTS, stated
from hits.flow.setup import release_cards
from hits.formats.licences import LICENCES, OWN
from hits.management.commands._base import ProjectCommand


class Command(ProjectCommand):
    changing = FIELDS
    help = "Show what releases state of licence, citation and the collection, or state it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--licence", metavar="ID", help=f"{', '.join(LICENCES)}, or {OWN} with --terms; '' for none"
        )
        own = {
            "terms": "The text of a licence of your own.",
            "single_answers": f"“{RELEASED}”: releases have every answer to the items of train and dev. '' for not.",
        }
        for name, said in (own | {name: f"{asked.label} {asked.help}" for name, asked in TEXTS.items()}).items():
            option = f"--{name.replace('_', '-')}"
            parser.add_argument(option, metavar="TEXT", help=f"{said} Or @ and the name of a file that has it.")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        given = {name: _read(name, options[name]) for name in FIELDS if options[name] is not None}
        if given:
            release_cards.change_card(project, given, None)
        said = stated(project.card)
        for name in FIELDS:
            self.say(f"{name}: {getattr(said, name) or 'not stated'}")


def _read(name: str, given: str) -> str:
    if not given.startswith("@") or "{" in given:
        # BibTeX begins with that sign too.
        return given
    try:
        # More than may be stated is refused with its length; a far larger file is not read for that.
        with Path(given[1:]).open(encoding="utf-8") as file:
            return file.read(2 * LONGEST[name])
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{given[1:]} cannot be read as text: {error}") from error
