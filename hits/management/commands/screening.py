from __future__ import annotations

from typing import Any

from hits.domain.screening_results import refuse_no_test, standing
from hits.management.commands._base import StageCommand


class Command(StageCommand):
    changing = ()
    help = "Print how many workers began, passed and failed a test, and which of its items were answered wrongly."

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        refuse_no_test(stage)
        found = standing(stage)
        median = "none" if found.median is None else f"{found.median:g} %"
        self.say(
            f"{found.began:,} began, {found.passed:,} passed with {stage.screening_mark} %, {found.failed:,} failed."
        )
        self.say(f"{found.again:,} may try again, {found.waiting:,} wait for a person. Median result: {median}.")
        rows = [(one.item.key, one.answers, one.wrong, f"{one.share:.0%}") for one in found.items]
        if rows:
            self.table(("item", "answers", "wrong", "share"), rows)
