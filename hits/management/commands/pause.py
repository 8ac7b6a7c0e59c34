from __future__ import annotations

from typing import Any

from hits.flow.pipeline import publishing
from hits.management.commands._base import StageCommand


class Command(StageCommand):
    help = "Send nothing more to the marketplace. HITs that workers see stay open."

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        publishing.pause(stage)
        self.say(f"{stage.key} is paused.")
