from __future__ import annotations

import secrets
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.domain.inbox import NEWEST_FIRST
from hits.domain.inbox import SHOWN as STATES
from hits.flow.people import inbox, messaging
from hits.management.commands._base import SHOWN, ProjectCommand, agreed
from hits.models import Project
from hits.text.amounts import amount, amount_is


class Command(ProjectCommand):
    changing = ("answered", "open_again", "reply")
    help = "List what workers wrote, newest first; mark entries as answered, open them again, or answer one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--state", choices=list(STATES), default="open", help="which are listed; usually open ones")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--answered", nargs="+", type=int, metavar="ENTRY", help="mark these as answered")
        what.add_argument("--open-again", nargs="+", type=int, metavar="ENTRY", help="open these again")
        what.add_argument("--reply", type=int, metavar="ENTRY", help="answer this one by a message, after asking")
        parser.add_argument("--subject", default="", help="of the answer")
        parser.add_argument("--text", metavar="FILE", help="a file with the answer")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["answered"]:
            self.say(f"{amount_is(inbox.mark_answered(project, options['answered'], None))} marked as answered.")
        elif options["open_again"]:
            self.say(f"{amount_is(inbox.open_again(project, options['open_again'], None))} open again.")
        elif options["reply"] is not None:
            self._reply(project, options)
        rows = project.inbox.filter(STATES[options["state"]]).select_related("worker", "stage", "assignment")
        cells = [
            [
                row.pk,
                row.worker.worker_id,
                row.stage.key,
                "reply" if row.message_id else "remark",
                "answered" if row.answered_at else "open",
                " ".join(row.said.split())[:80],
            ]
            for row in NEWEST_FIRST.sorted(rows)[:SHOWN]
        ]
        self.table(["entry", "worker", "stage", "kind", "state", "text"], cells)

    def _reply(self, project: Project, options: dict[str, Any]) -> None:
        entry = project.inbox.select_related("worker", "stage", "assignment").filter(pk=options["reply"]).first()
        if entry is None or options["text"] is None:
            raise CommandError("Name an entry of the inbox, and a file with the answer (--text). Nothing was sent.")
        entry.stage.project = project
        text = Path(options["text"]).read_text(encoding="utf-8")
        self.say(f"{entry.said}\n\nSubject: {options['subject']}\n\n{text}")
        if not options["yes"] and not agreed(f"Send it to {entry.worker.worker_id}? [y/N] "):
            raise CommandError("Nothing was sent.")
        key = secrets.token_urlsafe(16)
        messaging.write(entry.stage, options["subject"], {entry.worker.worker_id: text}, key, None, answers=entry)
        self.say(f"{amount(messaging.send(project), 'message')} sent.")
