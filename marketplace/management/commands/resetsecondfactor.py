from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from marketplace.verbs import clock, operators


class Command(BaseCommand):
    help = "Take away the second factor of an operator who lost app and recovery codes; the sessions end."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        username = options["username"]
        operator = User.objects.filter(username=username, is_staff=True).first()
        if operator is None:
            raise CommandError(f"There is no operator {username!r}.")
        if not operators.reset_second_factor(operator, clock.now()):
            raise CommandError(f"{username} has no second factor. Nothing was changed.")
        self.stdout.write("The second factor is taken away. The password alone signs in now.")
