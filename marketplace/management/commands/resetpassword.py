from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from marketplace.management.workers import find_worker
from marketplace.rules.errors import RequestError
from marketplace.verbs import access, clock


class Command(BaseCommand):
    help = "Print a link by which a worker sets a new password, once, within a day."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("worker", help="the worker's id or username")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(access.reset_link(find_worker(options["worker"]), clock.now()))
        except RequestError as refusal:
            raise CommandError(refusal.message) from refusal
