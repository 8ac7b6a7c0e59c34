from __future__ import annotations

import uuid
from abc import abstractmethod
from argparse import ArgumentParser
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from django.core.management.base import CommandError

from hits.domain.payment_totals import payment_totals
from hits.flow.payments import bonuses, ordering
from hits.formats.faults import FormatErrors, counted
from hits.formats.payments import AskedBonus
from hits.management.commands._base import ProjectCommand, agreed, dollars
from hits.models import Project


class BonusCommand(ProjectCommand):
    """Names every fault, or shows the price, asks, orders and pays here."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        name, content = self.source(options)
        try:
            new = self.asked(project, content, options)
        except FormatErrors as error:
            for fault in error.errors:
                self.stderr.write(str(fault))
            raise CommandError(f"{counted(error.count, 'fault')}. Nothing was paid.") from error
        digest = sha256(content).hexdigest() if content else ""
        quote = ordering.quote(project, new, digest)
        self._show(quote)
        what = f"{quote.count:,} bonus{'' if quote.count == 1 else 'es'}"
        if quote.problems or not (options["yes"] or agreed(f"Pay {what} for {dollars(quote.total)}? [y/N] ")):
            raise CommandError("Nothing was paid.")
        order = ordering.order(project, new, quote.total, f"command:{uuid.uuid4()}", None, name, digest)
        bonuses.send(project)
        totals = payment_totals(order.bonuses.all())
        counts = ", ".join(f"{count:,} {state}" for state, count in sorted(totals.counts.items()))
        self.say(f"Order {order.pk}: {counts}. {dollars(totals.paid + totals.fees)} paid, fees included.")
        for said in sorted(set(order.bonuses.exclude(error="").values_list("error", flat=True)))[:10]:
            self.say(said)

    def source(self, options: dict[str, Any]) -> tuple[str, bytes]:
        """The file's name and bytes; both empty when there is no file."""
        return "", b""

    @abstractmethod
    def asked(self, project: Project, content: bytes, options: dict[str, Any]) -> Sequence[ordering.NewBonus]:
        """Raises FormatErrors."""

    def _show(self, quote: ordering.BonusQuote) -> None:
        self.table(
            ["bonuses", "workers", "highest", "to workers", "fees", "total", "budget left", "balance"],
            [
                [
                    f"{quote.count:,}", f"{quote.workers:,}", dollars(quote.highest), dollars(quote.amount),
                    dollars(quote.fee), dollars(quote.total), dollars(quote.budget_left), dollars(quote.balance),
                ]
            ],
        )  # fmt: skip
        for said in [*quote.problems, *quote.warnings]:
            self.say(said)


class Command(BonusCommand):
    help = "Pay a bonus for one answer: shows the price, asks, and pays it exactly once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("assignment", help="the answer's assignment id at the marketplace")
        parser.add_argument("amount", help="dollars and cents, such as 1.50")
        parser.add_argument("reason", help="the worker reads it")
        parser.add_argument("--worker", default="", help="the worker's id, compared with the answer's")

    def asked(self, project: Project, content: bytes, options: dict[str, Any]) -> Sequence[ordering.NewBonus]:
        one = AskedBonus(None, options["assignment"], options["amount"], options["reason"], options["worker"])
        return ordering.check(project, [one])
