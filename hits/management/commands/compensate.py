from __future__ import annotations

import uuid
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits.flow.payments import compensating
from hits.management.commands._base import ProjectCommand, agreed, dollars


class Command(ProjectCommand):
    help = "Pay a worker who could not submit, through a HIT that nobody else sees."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("worker", help="the worker's id at the marketplace")
        parser.add_argument("amount", help="dollars and cents, such as 1.50")
        parser.add_argument("reason", help="the worker reads it")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        worker_id, amount, reason = options["worker"], options["amount"], options["reason"]
        quote = compensating.quote(project, worker_id, amount, reason)
        self.say(f"{dollars(quote.amount)} to {quote.worker_id}, {dollars(quote.fee)} fee: {dollars(quote.total)}.")
        for said in [*quote.problems, *quote.warnings]:
            self.say(said)
        if quote.problems or not (options["yes"] or agreed(f"Offer it for {dollars(quote.total)}? [y/N] ")):
            raise CommandError("Nothing was paid.")
        row = compensating.order(project, worker_id, amount, reason, quote.total, f"command:{uuid.uuid4()}", None)
        compensating.finish(project)
        row.refresh_from_db()
        self.say(f"Compensation {row.pk}: {row.get_state_display()}. {row.error}".strip())
        if row.state == row.State.OFFERED:
            self.say(f"\n{compensating.letter(row)}")
