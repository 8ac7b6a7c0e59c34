from __future__ import annotations

import uuid
from argparse import ArgumentParser
from time import sleep
from typing import Any

from django.core.management.base import CommandError

from hits.flow.pipeline import publishing, sending
from hits.formats.faults import counted
from hits.management.commands._base import agreed, describe, dollars
from hits.management.commands.quote import QuotingCommand
from hits.models import Batch

PAUSE_SECONDS = 5.0
OVER = (Batch.State.PUBLISHED, Batch.State.PAUSED)


class Command(QuotingCommand):
    help = "Show the quote, ask, and publish. The calls are made here; a crash loses none, `resume` goes on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--yes", action="store_true", help="do not ask")
        parser.add_argument("--wait", action="store_true", help="keep trying while the marketplace is away")

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        quote = publishing.quote(stage, options["items"])
        self.show(quote)
        if quote.problems:
            raise CommandError("Nothing was published.")
        if not options["yes"] and not agreed(
            f"Publish {counted(quote.items, 'item')} for {dollars(quote.total)}? [y/N] "
        ):
            raise CommandError("Nothing was published.")
        batch = publishing.publish(stage, quote.items, quote.total, f"command:{uuid.uuid4()}", None)
        sending.send(batch.pk)
        while options["wait"] and _is_waiting(batch):
            self.say(describe(batch))
            sleep(PAUSE_SECONDS)
            sending.send(batch.pk)
        self.say(describe(batch))


def _is_waiting(batch: Batch) -> bool:
    batch.refresh_from_db()
    return batch.state not in OVER
