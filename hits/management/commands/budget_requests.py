from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits import tasks
from hits.domain.budget_requests import find, in_words, limit_of
from hits.flow.payments import asking
from hits.flow.pipeline import sending
from hits.management.commands._base import ProjectCommand, dollars
from hits.management.commands.create_project import money
from hits.models import BudgetRequest, Project


class Command(ProjectCommand):
    changing = ("approve", "decline", "withdraw", "ask")
    help = "List requests for more money than members may budget; ask in somebody's name, approve, decline, withdraw."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        does = parser.add_mutually_exclusive_group()
        does.add_argument("--approve", type=int, metavar="ID", help="raise the budget, and publish what was asked for")
        does.add_argument("--decline", type=int, metavar="ID", help="with --reason, which the person who asked reads")
        does.add_argument("--withdraw", type=int, metavar="ID")
        does.add_argument("--ask", type=money, metavar="AMOUNT", help="a budget, in the name of the member --by")
        parser.add_argument("--by", default="", metavar="NAME", help="the member who asks")
        parser.add_argument("--reason", default="", help="what the request is for, or why it is declined")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["ask"] is not None:
            self._ask(project, options)
        elif options["approve"] is not None:
            self._approve(self._row(project, options["approve"]), options["reason"])
        elif options["decline"] is not None:
            asking.decline(self._row(project, options["decline"]), None, options["reason"])
            self.say("The request is declined.")
        elif options["withdraw"] is not None:
            asking.withdraw(self._row(project, options["withdraw"]), None)
            self.say("The request is withdrawn.")
        else:
            self._list(project)

    def _ask(self, project: Project, options: dict[str, Any]) -> None:
        found = project.memberships.select_related("user").filter(user__username=options["by"]).first()
        if found is None:
            raise CommandError(f"Name a member of {project.slug} with --by. Nothing was changed.")
        limit = limit_of(project, found.user)
        if limit is None or options["ask"] <= limit:
            raise CommandError(f"{options['by']} may set this budget: `budget` changes it. Nothing was changed.")
        row = asking.ask_for_budget(project, found.user, options["ask"], options["reason"])
        self.say(f"Request {row.pk} waits for an owner.")

    def _approve(self, row: BudgetRequest, reason: str) -> None:
        batch = tasks.approve_request(row, None, reason)
        row.project.account.refresh_from_db()
        self.say(f"The request is approved. The budget is {dollars(row.project.account.budget)}.")
        if batch:
            sending.send(batch.pk)

    def _row(self, project: Project, pk: int) -> BudgetRequest:
        row = find(project, pk)
        if row is None:
            raise CommandError(f"{project.slug} has no request {pk}. Nothing was changed.")
        return row

    def _list(self, project: Project) -> None:
        rows = project.budget_requests.select_related("asked_by", "stage")[:50]
        cells = [
            [row.pk, row.get_state_display(), row.asked_by or "–", in_words(row), row.reason or row.why or "–"]
            for row in rows
        ]
        if cells:
            self.table(["request", "state", "asked by", "for", "reason"], cells)
        else:
            self.say("Nobody has asked for money.")
