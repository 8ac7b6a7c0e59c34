from __future__ import annotations

from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError

from hits.flow.setup import model_annotators
from hits.management.commands._base import ProjectCommand
from hits.models import Project


class Command(ProjectCommand):
    changing = ("register", "end")
    help = "List the models that answer in a project; register one, whose token is printed once, or end one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--register", nargs=2, metavar=("NAME", "VERSION"), help="a model and its version")
        parser.add_argument("--cost", help="with --register: dollars, of an answer that states no cost")
        parser.add_argument("--end", type=int, metavar="ID", help="its token opens nothing any more; its answers stay")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["cost"] and not options["register"]:
            raise CommandError("--cost goes with --register. Nothing was changed.")
        if options["register"]:
            name, version = options["register"]
            row, token = model_annotators.register(project, name, version, _cost(options["cost"]), None)
            self.say(f"{row} has the id {row.pk}. Its token, which is not shown again: {token}")
        if options["end"] is not None:
            found = project.model_annotators.filter(pk=options["end"]).first()
            if found is None:
                raise CommandError(f"{project.slug} has no model {options['end']}. Nothing was changed.")
            model_annotators.end(found, None)
            self.say(f"{found} has ended.")
        self._list(project)

    def _list(self, project: Project) -> None:
        rows = [
            [
                row.pk,
                row.name,
                row.version,
                "–" if row.cost_per_answer is None else f"${row.cost_per_answer:f}",
                _state(row),
            ]
            for row in project.model_annotators.order_by("pk")
        ]
        self.table(["id", "name", "version", "an answer", "state"], rows)


def _cost(text: str | None) -> Decimal | None:
    try:
        return None if text is None else Decimal(text)
    except InvalidOperation as error:
        raise CommandError(f"{text!r} is no amount in dollars, such as 0.0004. Nothing was changed.") from error


def _state(row: Any) -> str:
    return "answers" if row.ended_at is None else f"ended {row.ended_at:%Y-%m-%d}"
