from typing import Any

from django.core.management.base import CommandError, CommandParser

from marketplace.management.workers import WorkerCommand
from marketplace.models import Worker
from marketplace.verbs import clock, privacy


class Command(WorkerCommand):
    help = "Delete who a worker is, for good. Answers and money stay under the worker id."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--yes", action="store_true", help="really do it; without, only say what would be deleted")

    def do(self, worker: Worker, options: dict[str, Any]) -> None:
        about = f"{worker.worker_id}, who is owed ${worker.owed:.2f}"
        if not options["yes"]:
            raise CommandError(f"This would delete the personal data of {about}. Add --yes to do it.")
        privacy.erase(worker, clock.now())
        self.stdout.write(f"Deleted the personal data of {about}.")
