from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits.flow.pipeline import advancing
from hits.flow.setup import own_stages
from hits.management.commands._base import ProjectCommand
from hits.management.commands.stage import assignment
from hits.models import Project, Stage
from hits.recipes.inputs import KNOWN


class Command(ProjectCommand):
    changing = ("add", "remove")
    help = "List the stages of a project, add one behind the others, or remove one that was never published."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        change = parser.add_mutually_exclusive_group()
        change.add_argument("--add", metavar="TITLE", help="what leads and, by default, workers call it")
        change.add_argument("--remove", metavar="KEY", help="with its items")
        parser.add_argument("--protocol", help="with --add: one that asks about rows, such as form")
        parser.add_argument("--ready", help="a ready-made task of it to begin with, such as sentiment of form")
        parser.add_argument("--from", dest="source", default="", metavar="KEY", help="an earlier stage; else the file")
        parser.add_argument(
            "--each",
            choices=["item", "answer", "known"],
            default="item",
            help="of what the stage kept; known: its items with a gold answer, to test its workers",
        )
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            type=assignment,
            metavar="NAME=VALUE",
            help="another value of its table in stages.toml, such as answers=5 or reward=0.06",
        )

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["add"]:
            self._add(project, options)
        elif options["remove"]:
            own_stages.remove_stage(self._stage(project, options["remove"]), None)
        rows = [
            (stage.key, stage.title, stage.protocol, _input(stage)) for stage in project.stages.order_by("position")
        ]
        self.table(("key", "title", "protocol", "items"), rows)

    def _add(self, project: Project, options: dict[str, Any]) -> None:
        test = options["each"] == KNOWN
        if not options["protocol"] and not test:
            raise CommandError(f"Name the --protocol: {', '.join(own_stages.row_protocols())}.")
        table = {
            "title": options["add"],
            **({"protocol": options["protocol"], "ready": options["ready"] or ""} if not test else {}),
            "input": {"stage": options["source"], "each": options["each"]},
            **dict(options["set"]),
        }
        own_stages.add_stage(project, table, None)
        if options["source"] and not test:
            advancing.advance(self._stage(project, options["source"]))

    def _stage(self, project: Project, key: str) -> Stage:
        found = project.stages.filter(key=key).first()
        if found is None:
            raise CommandError(f"There is no stage {key!r} in {project.slug}.")
        return found


def _input(stage: Stage) -> str:
    if not stage.input:
        return "as the recipe says"
    if not stage.input["stage"]:
        return "the rows of the file"
    if stage.input["each"] == KNOWN:
        return f"those of {stage.input['stage']} with a gold answer"
    return f"each {stage.input['each']} of {stage.input['stage']}" + (", drawn" if stage.draws else "")
