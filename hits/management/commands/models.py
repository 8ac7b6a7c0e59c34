from __future__ import annotations

from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError

from hits.domain.model_leases import MOST_TIMES, counts_of_not_given_again
from hits.flow.setup import model_annotators
from hits.management.commands._base import ProjectCommand
from hits.models import ModelAnnotator, Project


class Command(ProjectCommand):
    changing = ("register", "end", "give_again")
    help = (
        "List the models that answer in a project; register one, whose token is printed once, end one, or give it "
        "items again that it was given too often without an answer."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--register", nargs=2, metavar=("NAME", "VERSION"), help="a model and its version")
        parser.add_argument("--cost", help="with --register: dollars, of an answer that states no cost")
        parser.add_argument("--end", type=int, metavar="ID", help="its token opens nothing any more; its answers stay")

        parser.add_argument(
            "--give-again",
            type=int,
            metavar="ID",
            help=f"items that it was given {MOST_TIMES} times and did not answer",
        )

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["cost"] and not options["register"]:
            raise CommandError("--cost goes with --register. Nothing was changed.")
        if options["register"]:
            name, version = options["register"]
            row, token = model_annotators.register(project, name, version, _cost(options["cost"]), None)
            self.say(f"{row} has the id {row.pk}. Its token, which is not shown again: {token}")
        if options["end"] is not None:
            found = _model(project, options["end"])
            model_annotators.end(found, None)
            self.say(f"{found} has ended.")
        if options["give_again"] is not None:
            found = _model(project, options["give_again"])
            count = model_annotators.give_again(found, None)
            self.say(f"{count:,} items are given to {found} again.")
        self._list(project)

    def _list(self, project: Project) -> None:
        models = list(project.model_annotators.order_by("pk"))
        not_given_again = counts_of_not_given_again(models)
        rows = [
            [
                row.pk,
                row.name,
                row.version,
                "–" if row.cost_per_answer is None else f"${row.cost_per_answer:f}",
                _state(row),
                not_given_again.get(row.pk, 0),
            ]
            for row in models
        ]
        self.table(["id", "name", "version", "an answer", "state", "not given again"], rows)


def _model(project: Project, pk: int) -> ModelAnnotator:
    found = project.model_annotators.filter(pk=pk).first()
    if found is None:
        raise CommandError(f"{project.slug} has no model {pk}. Nothing was changed.")
    return found


def _cost(text: str | None) -> Decimal | None:
    try:
        return None if text is None else Decimal(text)
    except InvalidOperation as error:
        raise CommandError(f"{text!r} is no amount in dollars, such as 0.0004. Nothing was changed.") from error


def _state(row: Any) -> str:
    return "answers" if row.ended_at is None else f"ended {row.ended_at:%Y-%m-%d}"
