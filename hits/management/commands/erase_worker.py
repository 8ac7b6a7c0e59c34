from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits.management.base import OperatorCommand
from hits.workers.verbs import personal_data


class Command(OperatorCommand):
    help = (
        "Delete a worker's drafts, the comments beside their answers, the texts of messages to them and their replies, "
        "and what is known of how their texts came about, for good, and take the worker out of all pools. Answers, "
        "judgements and money stay under the worker id."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("worker", help="the id at the marketplace")
        parser.add_argument("--yes", action="store_true", help="really do it; without, only say what would be deleted")

    def run(self, options: dict[str, Any]) -> None:
        worker = personal_data.find(options["worker"])
        if not options["yes"]:
            found = _said(personal_data.erasable(worker))
            raise CommandError(f"Of {worker} this would delete: {found}. Add --yes to do it. Nothing was changed.")
        self.say(f"Of {worker} are deleted: {_said(personal_data.erase(worker))}.")


def _said(found: personal_data.Erasable) -> str:
    counts = {
        "drafts": found.drafts,
        "comments": found.comments,
        "texts of messages": found.messages,
        "replies": found.replies,
        "text evidence of answers": found.text_evidence,
        "places in pools": found.pools,
    }
    return ", ".join(f"{name} {number:,}" for name, number in counts.items())
