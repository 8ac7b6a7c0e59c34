import json
from typing import Any

from marketplace.management.workers import WorkerCommand
from marketplace.models import Worker
from marketplace.verbs import privacy


class Command(WorkerCommand):
    help = "Print everything that is kept about a worker, as JSON."

    def do(self, worker: Worker, options: dict[str, Any]) -> None:
        self.stdout.write(json.dumps(privacy.export(worker), ensure_ascii=False, indent=1))
