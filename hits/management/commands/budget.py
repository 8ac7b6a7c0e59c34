from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from hits.flow.setup import projects
from hits.management.commands._base import ProjectCommand, agreed, dollars
from hits.management.commands.create_project import money


class Command(ProjectCommand):
    changing = ("amount",)
    help = "Show a project's budget, or change it; a large change is asked about again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("amount", type=money, nargs="?", help="the new budget in dollars and cents, such as 250.00")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        account = project.account
        budget = options["amount"]
        if budget is None:
            for name in ("budget", "reserved", "paid", "left"):
                self.say(f"{name.capitalize():<9} {dollars(getattr(account, name))}")
            for one in projects.budget_changes(project):
                moved = f"{dollars(one.before)} to {dollars(one.after)}"
                self.say(f"{moved}, {one.action.by}, {one.action.at:%Y-%m-%d %H:%M} UTC")
            return
        try:
            before = projects.change_budget(project, budget, None, confirmed=budget if options["yes"] else None)
        except projects.BudgetNotConfirmedError as error:
            if not agreed(f"{error}\nChange it from {dollars(error.before)} to {dollars(budget)}? [y/N] "):
                raise
            before = projects.change_budget(project, budget, None, confirmed=budget)
        self.say(f"The budget was changed from {dollars(before)} to {dollars(budget)}.")
