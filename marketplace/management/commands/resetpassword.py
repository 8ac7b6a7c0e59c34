from typing import Any

from marketplace.management.workers import WorkerCommand
from marketplace.models import Worker
from marketplace.verbs import access, clock


class Command(WorkerCommand):
    help = "Print a link by which a worker sets a new password, once, within a day."

    def do(self, worker: Worker, options: dict[str, Any]) -> None:
        self.stdout.write(access.reset_link(worker, clock.now()))
