from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from hits.flow.data import evaluating, withdrawing
from hits.management.commands._base import ProjectCommand


class Command(ProjectCommand):
    help = "Withdraw a release: it is marked, its files stay, and its splits count as released."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("number", type=int, help="of the release")
        parser.add_argument("--reason", required=True, help="why nobody shall use it any more")
        parser.add_argument("--successor", type=int, metavar="NUMBER", help="the release to use instead")

    def run(self, options: dict[str, Any]) -> None:
        release = evaluating.release_numbered(self.project(options), options["number"])
        withdrawing.withdraw(release, None, reason=options["reason"], successor=options["successor"])
        self.say(f"Release {release.number} is withdrawn. Its files stay as they are.")
