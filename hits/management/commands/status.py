from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from hits.domain.plugins import faults_of, in_full
from hits.management.commands._base import ProjectCommand, dollars
from hits.models import Account, Stage

FIGURES = ["items", "waiting", "open", "again", "decided_by_models", "kept", "kept_by_models", "dropped", "answers",
           "to_review", "held", "invalid", "reported"]  # fmt: skip


class Command(ProjectCommand):
    changing = ()
    help = "Show a project's money and the figures of its stages."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--json", action="store_true", help="for programs; money is text")

    def run(self, options: dict[str, Any]) -> None:
        stages = self.stages(options)
        account = self.project(options).account
        if options["json"]:
            found = {"project": options["project"], "account": _account(account), "stages": [_stage(s) for s in stages]}
            found["faults"] = faults_of(self.project(options), stages, in_full)
            self.say(json.dumps(found, indent=2))
            return
        self.say(f"Budget {dollars(account.budget)}, reserved {dollars(account.reserved)}, "
                 f"paid {dollars(account.paid)}, left {dollars(account.left)}")  # fmt: skip
        for fault in faults_of(self.project(options), stages, in_full):
            self.say(fault)
        head = ["stage", "state", *FIGURES, "accuracy"]
        rows = [
            [s.key, s.state_shown, *(f"{getattr(s.summary, name):,}" for name in FIGURES), _accuracy(s)] for s in stages
        ]
        self.table([name.replace("_", " ") for name in head], rows)


def _account(account: Account) -> dict[str, str]:
    return {name: f"{getattr(account, name):.2f}" for name in ("budget", "reserved", "paid", "left")}


def _stage(stage: Stage) -> dict[str, Any]:
    figures = {
        name: getattr(stage.summary, name) for name in [*FIGURES, "scored", "correct", "median_seconds", "scores"]
    }
    return {"key": stage.key, "state": stage.state, "reward": f"{stage.reward:.2f}", **figures}


def _accuracy(stage: Stage) -> str:
    figures = stage.summary
    return f"{figures.correct / figures.scored:.1%}" if figures.scored else "–"
