from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits import tasks
from hits.domain import people_and_models as figures
from hits.flow.pipeline import routing
from hits.management.commands._base import StageCommand, agreed, dollars, jobs_run_here, share
from hits.models import Stage
from hits.quality.audit import Share
from hits.templatetags.figures import cents
from hits.text.amounts import agreeing, amount


class Command(StageCommand):
    changing = ("route", "undo")
    help = (
        "Compare people and models of a stage; preview which items models would decide (--preview), let them decide "
        "(--route), or send what they decided to people after all (--undo)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--preview", action="store_true", help="what --route would do; changes nothing")
        parser.add_argument("--route", action="store_true", help="let the models decide items on which they agree")
        parser.add_argument("--models", nargs="+", type=int, default=[], metavar="ID", help="ids of models")
        parser.add_argument("--least", type=int, help="so many of them say the same; else all")
        parser.add_argument(
            "--confidence", type=float, default=routing.USUAL_CONFIDENCE, help="that each states at least, 0 to 1"
        )
        parser.add_argument(
            "--audit", type=float, default=routing.USUAL_AUDIT, help="share that goes to people all the same, 0 to 1"
        )
        parser.add_argument("--yes", action="store_true", help="with --route: do not ask")
        parser.add_argument("--undo", type=int, metavar="ID", help="a routing, as listed")

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        if options["preview"] or options["route"]:
            self._route(stage, options)
        if options["undo"] is not None:
            self._undo(stage, options["undo"])
        if not options["preview"]:
            self._lines(stage)
            self._routings(stage)

    def _route(self, stage: Stage, options: dict[str, Any]) -> None:
        models = tuple(dict.fromkeys(options["models"]))
        least = len(models) if options["least"] is None else options["least"]
        condition = routing.Condition(models, least, options["confidence"], options["audit"])
        found = routing.preview(stage, condition)
        go = agreeing(found.to_people, "goes", "go")
        self.say(
            f"Of {amount(found.waiting, 'item')} that could be published the models decide {found.decided:,}, which "
            f"saves {dollars(found.saved)}; {found.to_people:,} {go} to people, among them {found.audited:,} of the "
            "audit."
        )
        if not options["route"]:
            return
        if not options["yes"] and not agreed("Let the models decide them? [y/N] "):
            raise CommandError("Nothing was changed.")
        routing.route(stage, condition, found.decided, found.saved, None)
        with jobs_run_here():
            tasks.conclude_stage(stage.pk)

    def _undo(self, stage: Stage, pk: int) -> None:
        row = stage.routings.select_related("stage__project").filter(pk=pk).first()
        if row is None:
            raise CommandError(f"{stage.key} has no routing {pk}. Nothing was changed.")
        found = routing.undo(row, None)
        with jobs_run_here():
            tasks.conclude_stage(stage.pk)
        self.say(
            f"{amount(found.returned, 'item')} {agreeing(found.returned, 'goes', 'go')} to people, {found.used:,} "
            f"{agreeing(found.used, 'stays', 'stay')} decided."
        )

    def _lines(self, stage: Stage) -> None:
        rows = [
            [
                line.name,
                line.answers,
                _interval(line.gold),
                _interval(line.agreement),
                cents(line.cost_per_answer),
                dollars(line.cost),
            ]
            for line in figures.compared(stage).lines
        ]
        self.table(["who", "answers", "gold answers right", "same as most people", "an answer", "cost"], rows)

    def _routings(self, stage: Stage) -> None:
        rows = [
            [row.pk, row.decided, row.audited, dollars(row.saved), "undone" if row.undone_at else "stands"]
            for row in stage.routings.order_by("pk")
        ]
        if not rows:
            return
        self.table(["routing", "decided", "audited", "saved", "state"], rows)
        if standing := figures.standing(stage):
            found = figures.audit(stage, standing)
            self.say(f"Audited items on which people say another value: {_interval(found.differ)}")
            self.say(f"People wrong on known answers: {_interval(found.people_wrong)}")
            if (error := found.estimate) and error.tells:
                self.say(f"Error of the models: {error.value:.1%} ({error.low:.1%} to {error.high:.1%})")


def _interval(found: Share) -> str:
    if not found.of:
        return "–"
    return f"{share(found.value)} ({found.low:.1%} to {found.high:.1%}) of {found.of:,}"
