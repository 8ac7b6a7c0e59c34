from __future__ import annotations

import secrets
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.domain import recipients
from hits.domain.message_templates import filled, values
from hits.flow.people import messaging
from hits.management.commands._base import SHOWN, StageCommand, agreed
from hits.models import MessageTemplate, Stage, WorkerMessage
from hits.text.amounts import amount


class Command(StageCommand):
    changing = ("send",)
    help = "List messages to workers of a stage, newest first; show a draft to one or to many of them, or send it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        whom = parser.add_mutually_exclusive_group()
        whom.add_argument("--worker", help="show a draft to this one, with the worker's own mistakes")
        said = "; ".join(f"{name}: {way.title.lower()}" for name, way in recipients.WAYS.items())
        whom.add_argument("--to", choices=list(recipients.WAYS), help=f"show one text to many: {said}")
        parser.add_argument("--template", metavar="NAME", help="begin with this one, see message_templates")
        parser.add_argument("--text", help="a file with the text, instead of the draft")
        parser.add_argument("--subject", help="instead of the draft's")
        parser.add_argument("--send", action="store_true", help="send it, after asking")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        if options["to"] is not None:
            return self._to_many(stage, options)
        if options["worker"] is None:
            rows = stage.worker_messages.select_related("worker", "created_by")[:SHOWN]
            self.table(["worker", "state", "subject", "by", "error"], [_cells(row) for row in rows])
            return None
        stat = stage.worker_stats.select_related("worker").filter(worker__worker_id=options["worker"]).first()
        if stat is None:
            raise CommandError(f"{options['worker']} has not answered in {stage.key}. Nothing was sent.")
        template = self._template(stage, options)
        if template:
            begun = values(stage, stat.worker)
            subject, text = filled(template.subject, begun), filled(template.text, begun)
        else:
            subject, text = messaging.draft(stage, stat.worker)
        subject, text = _instead(subject, text, options)
        self.say(f"Subject: {subject}\n\n{text}")
        if options["send"]:
            self._send(stage, options["worker"], subject, text, asks=not options["yes"])
        return None

    def _to_many(self, stage: Stage, options: dict[str, Any]) -> None:
        template = self._template(stage, options)
        subject, text = _instead(*((template.subject, template.text) if template else ("", "")), options)
        number = recipients.found(stage, options["to"]).count()
        self.say(f"Subject: {subject}\n\n{text}\n\nTo {amount(number, 'worker')}.")
        if not options["send"]:
            return
        if not options["yes"] and not agreed(f"Send it to {amount(number, 'worker')}? [y/N] "):
            raise CommandError("Nothing was sent.")
        messaging.write_to(stage, options["to"], subject, text, secrets.token_urlsafe(16), None)
        self.say(f"{amount(messaging.send(stage.project), 'message')} sent.")

    def _template(self, stage: Stage, options: dict[str, Any]) -> MessageTemplate | None:
        """Raises CommandError."""
        if options["template"] is None:
            return None
        found = stage.project.message_templates.filter(name=options["template"]).first()
        if found is None:
            raise CommandError(f"{stage.project.slug} has no message template {options['template']!r}.")
        return found

    def _send(self, stage: Stage, worker_id: str, subject: str, text: str, *, asks: bool) -> None:
        if asks and not agreed(f"Send it to {worker_id}? [y/N] "):
            raise CommandError("Nothing was sent.")
        messaging.write(stage, subject, {worker_id: text}, secrets.token_urlsafe(16), None)
        self.say(f"{amount(messaging.send(stage.project), 'message')} sent.")


def _instead(subject: str, text: str, options: dict[str, Any]) -> tuple[str, str]:
    """What was given, in the place of what the draft has."""
    read = Path(options["text"]).read_text(encoding="utf-8") if options["text"] else text
    return options["subject"] or subject, read


def _cells(row: WorkerMessage) -> list[object]:
    by = row.created_by.get_username() if row.created_by else "–"
    return [row.worker.worker_id, row.get_state_display(), row.subject, by, row.error or "–"]
