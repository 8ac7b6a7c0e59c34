from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from hits import tasks
from hits.flow.setup import ruling
from hits.formats.faults import counted
from hits.management.commands._base import StageCommand, agreed, jobs_run_here
from hits.models import Stage


class Command(StageCommand):
    help = (
        "A stage's vote rule. show: the rule in force and those before it. try FILE: what the rule in that file "
        "would conclude of the answers that are there. set FILE: the same, then ask, save it and judge by it. "
        "A dash reads the rule from the standard input."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("verb", choices=["show", "try", "set"])
        parser.add_argument("file", type=Path, nargs="?")
        parser.add_argument("--note", default="", help="why it changes")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def changes(self, options: dict[str, Any]) -> bool:
        return bool(options["verb"] == "set")

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        if options["verb"] == "show":
            return self._show(stage)
        if options["file"] is None:
            raise CommandError(f"Name the file: rule {options['project']} {stage.key} {options['verb']} FILE")
        text = _read(options["file"])
        wanted = ruling.written(stage, text)
        for fault in ruling.unheard(text, ruling.units(stage)):
            self.say(f"No answer so far says this: {fault}")
        found = ruling.preview(stage, wanted)
        self._tell(found)
        if options["verb"] == "set":
            self._save(stage, wanted, found, options)

    def _show(self, stage: Stage) -> None:
        verdicts = ruling.verdicts_by_edition(stage)
        rows = [
            (row.number, verdicts.get(row.number, 0), row.created_by or "–", row.note) for row in ruling.editions(stage)
        ]
        self.table(["rule", "verdicts", "by", "why"], rows)
        self.say()
        self.say(ruling.text_of(stage).rstrip())

    def _tell(self, found: ruling.Preview) -> None:
        self.table(["conclusion", "now", "then"], [(str(e), f"{now:,}", f"{then:,}") for e, now, then in found.counts])
        for word, now, then in found.parts:
            self.say(f"  groups {word}: {now:,} -> {then:,}")
        self.say(f"{found.moved:,} of {found.items:,} items move")
        if found.uncomputed:
            self.say(f"{found.uncomputed:,} items wait for values that the computation of agreement gives")
        for move in found.moves:
            examples = ", ".join(key for _, key in move.examples)
            self.say(f"  {move.items:,} {move.before} -> {move.after}, such as {examples}")

    def _save(self, stage: Stage, wanted: Any, found: ruling.Preview, options: dict[str, Any]) -> None:
        for title, items in ruling.later_items(stage):
            self.say(f"{title} has {items:,} items from this stage already; they stay.")
        if not options["yes"] and not agreed(f"Save rule {stage.rule_edition + 1}? [y/N] "):
            raise CommandError("Nothing was saved.")
        began = timezone.now()
        made = ruling.save(stage, wanted, stage.rule_edition, options["note"], None)
        with jobs_run_here():
            tasks.conclude_stage(stage.pk)
        self.say(
            f"Rule {made.number} is in force. {counted(len(ruling.differences(stage, began)), 'item')} changed label."
        )


def _read(file: Path) -> str:
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file} cannot be read: {error}") from error
