from __future__ import annotations

from typing import Any

from hits.flow.pipeline import publishing, sending
from hits.management.commands._base import StageCommand, describe


class Command(StageCommand):
    help = "Close every open HIT of a stage now. Workers who have one open may still submit it."

    def run(self, options: dict[str, Any]) -> None:
        batch = publishing.expire(self.stage(options), None)
        sending.send(batch.pk)
        self.say(describe(batch))
