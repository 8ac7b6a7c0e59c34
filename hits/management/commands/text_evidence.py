from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits.domain import answer_lists, text_evidence
from hits.domain.answer_lists import AnswerFilter
from hits.flow.people import comparing_texts
from hits.management.commands._base import SHOWN, StageCommand
from hits.models import Stage, Worker


class Command(StageCommand):
    changing = ()
    help = (
        "Say how the texts of a stage came about: the answers with most signs first, or all of one worker. A sign is "
        "something unusual to look at, and no proof; nothing is decided by it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--worker", metavar="WORKER", default="", help="only this worker's, with a summary")

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        comparing_texts.compare_when_due(stage)
        if options["worker"]:
            self._worker(stage, options["worker"])
        wanted = AnswerFilter(worker=options["worker"], sort="-signs")
        rows = answer_lists.page(stage, wanted, size=SHOWN).rows
        if not rows:
            self.say("Nothing is collected here." if not stage.text_evidence else "No answer has been read yet.")
        evidence = text_evidence.of_answers(stage, rows)
        for row in rows:
            self.say(f"{row.assignment_id} of {row.worker.worker_id}")
            for one in evidence[row.pk].sentences if row.pk in evidence else ():
                self.say(f"  {'* ' if one.is_sign else '  '}{one.text}")

    def _worker(self, stage: Stage, worker_id: str) -> None:
        worker = Worker.objects.filter(worker_id=worker_id).first()
        found = text_evidence.of_worker_in(stage, worker) if worker else None
        if found is None or not found.written.answers:
            raise CommandError(f"Nothing is collected of texts of {worker_id} in this stage.")
        self.say(f"{found.with_signs:,} of {found.written.answers:,} answers have signs.")
        for one in found.sentences:
            self.say(f"{'* ' if one.is_sign else '  '}{one.text}")
