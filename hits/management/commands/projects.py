from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from hits.management.commands._base import FlowCommand, dollars
from hits.models import Project, Stage


class Command(FlowCommand):
    help = "List projects by slug, with their money and how many items are kept; with words, those that have them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("words", nargs="*", help="each in the name, the slug, the recipe, a tag or an owner's name")
        parser.add_argument(
            "--state",
            choices=Project.State.values,
            default="",
            help="draft: nothing was started; archived: the archived projects, which else are left out",
        )

    def run(self, options: dict[str, Any]) -> None:
        found = Project.objects.matching(" ".join(options["words"]), options["state"]).order_by("slug")
        rows = [
            _row(project)
            for project in found.select_related("account").prefetch_related("stages__summary", "memberships__user")
        ]
        self.table(["project", "name", "recipe", "owners", "stages at work", "kept", "paid", "budget"], rows)


def _row(project: Project) -> list[object]:
    stages = list(project.stages.all())
    return [
        project.slug,
        project.name,
        project.recipe,
        ", ".join(sorted(row.user.username for row in project.memberships.all() if row.role == row.Role.OWNER)),
        sum(stage.state == Stage.State.LIVE for stage in stages),
        f"{sum(stage.summary.kept for stage in stages):,}",
        dollars(project.account.paid),
        dollars(project.account.budget),
    ]
