from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.domain import evaluated_systems
from hits.flow.data import evaluating
from hits.formats.faults import FormatErrors
from hits.management.commands._base import ProjectCommand


class Command(ProjectCommand):
    changing = ("keep",)
    help = "Score a file of predictions against the key of a release: EM and F1 for ReCoRD, accuracy for the others."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "predictions", type=Path, help="JSON {id: answer}, or CSV or JSON Lines with ids and labels"
        )
        parser.add_argument("--release", type=int, metavar="NUMBER", help="the newest one, if none is named")
        parser.add_argument("--file", default="", help="the file to compare with; the key of test, if none is named")
        parser.add_argument("--keep", default="", metavar="NAME", help="keep the scores with the release")

    def run(self, options: dict[str, Any]) -> None:
        release = evaluating.release_numbered(self.project(options), options["release"])
        path: Path = options["predictions"]
        try:
            with path.open("rb") as stream:
                found = evaluating.evaluate(release, stream, path.name, options["file"], keep_as=options["keep"])
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
        except FormatErrors as error:
            raise CommandError(f"{path} was refused, and nothing was scored:\n{error}") from error
        parts, differences = found.pop("scores"), found.pop("differences")
        for name, value in found.items():
            self.say(f"{name}: {value}")
        for one in parts:
            about = ", ".join(filter(None, (one["measure"], one["part"])))
            self.say(f"{about} ({one['n']:,}): {evaluated_systems.score_text(one)}")
        for one in differences:
            self.say(f"{100 * one['difference']:+.1f} points compared with {one['name']}, p = {one['p']:.4f}")
