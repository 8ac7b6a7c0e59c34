from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from hits.api.views.calls import described
from hits.domain.marketplace_account import gateway
from hits.management.commands._base import FlowCommand
from hits.mturk.calls import Figures, Report, Window
from hits.templatetags.figures import latency

COUNTS = ["calls", "retries", "throttled", "refused", "failed"]


class Command(FlowCommand):
    help = "Show how many calls of the marketplace were made, how they ended, and how fast the account may call."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--window", choices=[window.value for window in Window], default=Window.HOUR.value)
        parser.add_argument("--json", action="store_true", help="for programs")

    def run(self, options: dict[str, Any]) -> None:
        window = Window(options["window"])
        if options["json"]:
            self.say(json.dumps(described(window), indent=2))
            return
        market = gateway()
        pace, report = market.pace(), market.calls(window)
        slowed = f"{pace.throttled_at:%Y-%m-%d %H:%M:%S} UTC" if pace.throttled_at else "never"
        self.say(f"{settings.MTURK_ENDPOINT_URL}: at most {pace.rate:.1f} calls a second now; last slowed: {slowed}")
        if not report.known:
            self.say("Redis does not answer: the figures are out of reach.")
            return
        head = ["operation", "calls", "share", *COUNTS[1:], "median", "95 %"]
        rows = [_row(figures, report) for figures in [*report.operations, report.total]]
        self.table(head, rows)


def _row(figures: Figures, report: Report) -> list[str]:
    share = figures.calls / report.total.calls if report.total.calls else 0.0
    counts = [f"{getattr(figures, name):,}" for name in COUNTS]
    times = [latency(figures.median_ms), latency(figures.p95_ms)]
    return [figures.operation or "together", counts[0], f"{share:.1%}", *counts[1:], *times]
