from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from marketplace.models import Requester
from marketplace.verbs import accounts


class Command(BaseCommand):
    help = "Make one more access key for a requester and print the pair, once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("customer_id", help="the requester's customer id, which begins with A")
        parser.add_argument("--label", default="", help="where the key will be used")

    def handle(self, *args: Any, **options: Any) -> None:
        requester = Requester.objects.filter(customer_id=options["customer_id"]).first()
        if requester is None:
            raise CommandError(f"There is no requester {options['customer_id']}.")
        if len(options["label"]) > 100:
            raise CommandError("--label takes at most 100 characters.")
        key = accounts.add_key(requester, options["label"])
        self.stdout.write(f"AWS_ACCESS_KEY_ID={key.access_key_id}")
        self.stdout.write(f"AWS_SECRET_ACCESS_KEY={key.secret}")
