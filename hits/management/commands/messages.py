from __future__ import annotations

import secrets
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.flow.people import messaging
from hits.management.commands._base import SHOWN, StageCommand, agreed
from hits.models import Stage, WorkerMessage


class Command(StageCommand):
    changing = ("send",)
    help = "List messages to workers of a stage, newest first; show a draft to one of them, or send it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--worker", help="show a draft to this one, with the worker's own mistakes")
        parser.add_argument("--text", help="a file with the text, instead of the draft")
        parser.add_argument("--subject", help="instead of the draft's")
        parser.add_argument("--send", action="store_true", help="send it, after asking")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        if options["worker"] is None:
            rows = stage.worker_messages.select_related("worker")[:SHOWN]
            self.table(["worker", "state", "subject", "error"], [_cells(row) for row in rows])
            return
        stat = stage.worker_stats.select_related("worker").filter(worker__worker_id=options["worker"]).first()
        if stat is None:
            raise CommandError(f"{options['worker']} has not answered in {stage.key}. Nothing was sent.")
        subject, text = messaging.draft(stage, stat.worker)
        subject = options["subject"] or subject
        text = Path(options["text"]).read_text(encoding="utf-8") if options["text"] else text
        self.say(f"Subject: {subject}\n\n{text}")
        if options["send"]:
            self._send(stage, options["worker"], subject, text, asks=not options["yes"])

    def _send(self, stage: Stage, worker_id: str, subject: str, text: str, *, asks: bool) -> None:
        if asks and not agreed(f"Send it to {worker_id}? [y/N] "):
            raise CommandError("Nothing was sent.")
        messaging.write(stage, subject, {worker_id: text}, secrets.token_urlsafe(16), None)
        self.say(f"{messaging.send(stage.project):,} messages sent.")


def _cells(row: WorkerMessage) -> list[object]:
    return [row.worker.worker_id, row.get_state_display(), row.subject, row.error or "–"]
