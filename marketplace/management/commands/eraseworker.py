from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from marketplace.management.workers import find_worker
from marketplace.rules.errors import AlreadyDone
from marketplace.verbs import clock, privacy


class Command(BaseCommand):
    help = "Delete who a worker is, for good. Answers and money stay under the worker id."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("worker", help="the worker's id or username")
        parser.add_argument("--yes", action="store_true", help="really do it; without, only say what would be deleted")

    def handle(self, *args: Any, **options: Any) -> None:
        worker = find_worker(options["worker"])
        about = f"{worker.worker_id}, who is owed ${worker.owed:.2f}"
        if not options["yes"]:
            raise CommandError(f"This would delete the personal data of {about}. Add --yes to do it.")
        try:
            privacy.erase(worker, clock.now())
        except AlreadyDone as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(f"Deleted the personal data of {about}.")
