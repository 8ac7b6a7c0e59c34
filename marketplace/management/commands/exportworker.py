import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from marketplace.management.workers import find_worker
from marketplace.verbs import privacy


class Command(BaseCommand):
    help = "Print everything that is kept about a worker, as JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("worker", help="the worker's id or username")

    def handle(self, *args: Any, **options: Any) -> None:
        data = privacy.export(find_worker(options["worker"]))
        self.stdout.write(json.dumps(data, ensure_ascii=False, indent=1))
