"""Commands about one worker."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from marketplace.models import Worker
from marketplace.rules.errors import RequestError


class WorkerCommand(BaseCommand):
    """Subclasses say what they `do`; what it refuses is the command's error."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("worker", help="the worker's id or username")

    def handle(self, *args: Any, **options: Any) -> None:
        name, workers = options["worker"], Worker.objects.select_related("user")
        worker = workers.filter(worker_id=name).first() or workers.filter(user__username=name).first()
        if worker is None:
            raise CommandError(f"There is no worker with the id or the username {name!r}.")
        try:
            self.do(worker, options)
        except RequestError as refusal:
            raise CommandError(refusal.message) from refusal

    def do(self, worker: Worker, options: dict[str, Any]) -> None:
        raise NotImplementedError
