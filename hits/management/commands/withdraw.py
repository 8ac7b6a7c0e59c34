from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits.flow.payments import compensating
from hits.management.commands._base import ProjectCommand


class Command(ProjectCommand):
    help = "Withdraw a compensation that its worker has not taken up."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("compensation", type=int, help="its number, as `payments` shows it")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        row = project.compensations.filter(pk=options["compensation"]).first()
        if row is None:
            raise CommandError(f"{project.slug} has no compensation {options['compensation']}.")
        compensating.withdraw(row, None)
        compensating.finish(project)
        row.refresh_from_db()
        self.say(f"Compensation {row.pk}: {row.get_state_display()}. {row.error}".strip())
