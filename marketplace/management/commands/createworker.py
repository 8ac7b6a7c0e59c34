import secrets
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from marketplace.verbs import accounts


class Command(BaseCommand):
    help = "Create a worker's log-in and print its password, once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--country", default="", help="two letters, such as US")
        parser.add_argument("--subdivision", default="", help="two letters, such as CA")

    def handle(self, *args: Any, **options: Any) -> None:
        username = options["username"]
        places = {name: options[name].upper() for name in ("country", "subdivision")}
        for name, place in places.items():
            if place and not (len(place) == 2 and place.isalpha()):
                raise CommandError(f"--{name} takes two letters, not {place!r}.")
        if get_user_model().objects.filter(username=username).exists():
            raise CommandError(f"There is a user {username} already; choose another name.")
        password = secrets.token_urlsafe(12)
        worker = accounts.create_worker(username, password, **places)
        self.stdout.write(f"{username} {password} {worker.worker_id}")
