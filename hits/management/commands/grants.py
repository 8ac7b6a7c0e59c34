from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits.domain.own_qualifications import Held, held_in
from hits.flow.people import granting
from hits.management.commands._base import ProjectCommand
from hits.models import Grant, Project


class Command(ProjectCommand):
    changing = ("workers",)
    help = (
        "List the qualifications that a project grants; with one of them, list who has it; with an action, give it "
        "to workers or take it back."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("key", nargs="?", help="the qualification, such as part-one")
        parser.add_argument("action", nargs="?", default="list", choices=["list", "add", "withdraw"])
        parser.add_argument("workers", nargs="*", metavar="worker", help="ids at the marketplace")

    def run(self, options: dict[str, Any]) -> None:
        project, key = self.project(options), options["key"]
        if not key:
            granting.finish(project)
            return self._list(project)
        granting.refuse_unknown(project, key)
        if options["action"] == "list":
            granting.finish(project)
        elif options["action"] == "add":
            new = granting.grant(project, key, options["workers"], None)
            self.say(f"{new:,} workers had not {key} before.")
        else:
            self._withdraw(project, key, options["workers"])
        self._holders(project, key)
        return None

    def _withdraw(self, project: Project, key: str, workers: list[str]) -> None:
        standing = project.grants.filter(key=key, state__in=[Grant.State.INTENDED, Grant.State.GRANTED])
        rows = {row.worker.worker_id: row for row in standing.filter(worker__worker_id__in=workers).select_related()}
        missing = [worker_id for worker_id in workers if worker_id not in rows]
        if missing or not workers:
            raise CommandError(f"These do not have {key}: {', '.join(missing) or 'name one'}. Nothing was changed.")
        for row in rows.values():
            granting.intend_withdrawal(row)
        granting.finish(project)

    def _list(self, project: Project) -> None:
        rows = [[held.key, _does(held), f"{_standing(project, held.key).count():,}"] for held in held_in(project)]
        self.table(["qualification", "what it does", "workers"], rows)

    def _holders(self, project: Project, key: str) -> None:
        rows = _standing(project, key).select_related("worker").order_by("id")
        shown = [[row.worker.worker_id, row.get_state_display(), row.error or "–"] for row in rows.iterator()]
        self.table(["worker", "state", "said"], shown)


def _standing(project: Project, key: str) -> Any:
    return project.grants.filter(key=key).exclude(state=Grant.State.WITHDRAWN)


def _does(held: Held) -> str:
    parts = {"given by": held.given_by, "opens": held.opens, "closes": held.closes}
    return "; ".join(f"{word} {', '.join(stage.key for stage in stages)}" for word, stages in parts.items() if stages)
