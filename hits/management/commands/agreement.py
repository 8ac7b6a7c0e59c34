from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from common.spreadsheet import csv_lines
from hits.domain import stage_statistics
from hits.domain.crowd_answers import refuse_uncompared
from hits.flow.pipeline import computing
from hits.management.commands._base import StageCommand
from hits.models import ComputationRun, Stage


class Command(StageCommand):
    changing = ("compute",)
    help = (
        "Print how far the workers of a stage agree on each unit, and how right each method of aggregation is. "
        "--compute computes it first, --csv writes the value and confidence of each item."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--compute", action="store_true", help="compute it anew before")
        parser.add_argument("--method", help="with --compute: the method whose values the items get")
        parser.add_argument("--csv", type=Path, metavar="FILE", help="write the values of the items")

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        refuse_uncompared(stage)
        if options["method"] and not options["compute"]:
            raise CommandError("--method says how it is computed: add --compute.")
        if options["compute"]:
            self._compute(stage, {"method": options["method"]} if options["method"] else {})
        run = stage_statistics.newest(stage)
        if run is None:
            raise CommandError("It was not computed yet: add --compute.")
        if computed := stage_statistics.computed(stage):
            over = f"{computed.answers:,} answer{'' if computed.answers == 1 else 's'}"
            self.say(f"Computed at {computed.at:%Y-%m-%d %H:%M} UTC over {over}; {computed.in_words}.")
        for unit in stage_statistics.report_of(run)["units"]:
            self._tell(unit)
        if options["csv"]:
            self._write(stage, run, options["csv"])

    def _compute(self, stage: Stage, params: dict[str, Any]) -> None:
        run = computing.start(stage.project, stage_statistics.key_of(stage), params, None)
        computing.run(run.pk)
        run.refresh_from_db()
        if run.state != ComputationRun.State.DONE:
            raise CommandError(run.error or f"It is {run.get_state_display().lower()}.")

    def _tell(self, unit: dict[str, Any]) -> None:
        self.say(f"{unit['unit']} ({unit['level']}): {unit['why'] or _counted(unit)}")
        for name, figure in unit.get("figures", {}).items():
            self.say(f"  {name}: {_told(figure)}")
        rows = [_method(row) for row in unit["methods"]]
        if rows:
            self.table(["  method", "right", "of", "interval", "ties", "iterations", "seconds"], rows)
        for row in unit["methods"]:
            if "assumes" in row:
                self.say("  " + " ".join([f"{row['title']} assumes: {row['assumes']}", *row["warnings"]]))
        if recommended := unit.get("recommended"):
            self.say(f"  Recommended: {recommended['title']}. {recommended['why']}")

    def _write(self, stage: Stage, run: ComputationRun, to: Path) -> None:
        try:
            with to.open("w", encoding="utf-8", newline="") as file:
                file.writelines(csv_lines(*stage_statistics.value_table(stage, run)))
        except OSError as error:
            raise CommandError(f"{to} cannot be written: {error.strerror}.") from error
        self.say(f"{to} is written.")


def _counted(unit: dict[str, Any]) -> str:
    if "items" not in unit:
        return ""
    return f"{unit['answers']:,} answers of {unit['workers']:,} workers to {unit['items']:,} items"


def _told(figure: dict[str, Any]) -> str:
    if figure["value"] is None:
        return f"not defined: {figure['why']}"
    bounds = "" if figure["low"] is None else f" (95 %: {figure['low']:.3f} to {figure['high']:.3f})"
    return f"{figure['value']:.3f}{bounds}"


def _method(row: dict[str, Any]) -> list[object]:
    if row["why"]:
        return [f"  {row['title']}", "–", "–", row["why"], "–", "–", "–"]
    right = row["accuracy"]
    known = [right["right"], right["of"], f"{right['low']:.3f} to {right['high']:.3f}"] if right else ["–"] * 3
    steps = f"{row['iterations']}{'' if row['converged'] else ', not converged'}"
    return [f"  {row['title']}", *known, row["tied"], steps, row["seconds"]]
