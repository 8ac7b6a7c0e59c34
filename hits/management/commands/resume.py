from __future__ import annotations

from typing import Any

from hits.flow.pipeline import publishing, sending
from hits.management.commands._base import StageCommand, describe
from hits.models import Batch


class Command(StageCommand):
    help = "Go on where pausing, a crash or an absent marketplace stopped; the calls are made here."

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        publishing.resume(stage)
        left = stage.batches.exclude(state=Batch.State.PUBLISHED).order_by("id")
        for batch in list(left):
            sending.send(batch.pk)
            self.say(describe(batch))
        stage.refresh_from_db(fields=["state"])
        self.say(f"{stage.key} is {stage.state}.")
