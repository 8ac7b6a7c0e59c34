from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from marketplace.verbs import accounts, clock


class Command(BaseCommand):
    help = "Create a requester with the starting balance and print its access key pair, once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        key = accounts.create_requester(options["name"], settings.MARKETPLACE_STARTING_BALANCE, clock.now())
        self.stdout.write(f"AWS_ACCESS_KEY_ID={key.access_key_id}")
        self.stdout.write(f"AWS_SECRET_ACCESS_KEY={key.secret}")
