from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from hits.flow.pipeline import publishing
from hits.management.commands._base import StageCommand, dollars


class QuotingCommand(StageCommand):
    """Adds `--items` and writes quotes."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--items", type=int, help="how many of the waiting items; all by default")

    def show(self, quote: publishing.Quote) -> None:
        self.say(f"Items         {quote.items:,}")
        self.say(f"HITs          {quote.hits:,}")
        self.say(f"Answers       {quote.answers:,}")
        if quote.check_questions:
            self.say(
                f"Checks        {quote.check_questions:,} check questions with {quote.check_answers:,} answers among "
                f"these, for {dollars(quote.check_cost)}"
            )
        self.say(f"One answer    {dollars(quote.unit_cost)} ({dollars(quote.reward)} and {dollars(quote.fee)} fee)")
        if quote.least < quote.total:
            self.say(f"Least         {dollars(quote.least)}, about {dollars(quote.expected)} expected")
            self.say(f"At most       {dollars(quote.total)}, which is reserved")
        else:
            self.say(f"Total         {dollars(quote.total)}")
        self.say(f"Hourly wage   {dollars(quote.hourly_wage)}{' (assumed time)' if quote.wage_assumed else ''}")
        self.say(f"Budget left   {dollars(quote.budget_left)}")
        self.say(f"Balance       {dollars(quote.balance)}")
        if quote.planned:
            self.say(f"Planned       {dollars(quote.planned)} of it, for calls on their way")
        self.say(f"Closes        {quote.closes_at:%Y-%m-%d %H:%M} UTC")
        for problem in quote.problems:
            self.say(f"Problem: {problem}")
        for warning in quote.warnings:
            self.say(f"Warning: {warning}")


class Command(QuotingCommand):
    changing = ()
    help = "Say what publishing the waiting items of a stage would cost. Changes nothing."

    def run(self, options: dict[str, Any]) -> None:
        self.show(publishing.quote(self.stage(options), options["items"]))
