from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from marketplace.models import AccessKey
from marketplace.rules.errors import AlreadyDone
from marketplace.verbs import accounts, clock


class Command(BaseCommand):
    help = "Revoke an access key for good: it signs nothing any more."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("access_key_id")

    def handle(self, *args: Any, **options: Any) -> None:
        key = AccessKey.objects.filter(access_key_id=options["access_key_id"]).first()
        if key is None:
            raise CommandError(f"There is no access key {options['access_key_id']}.")
        try:
            accounts.revoke_key(key, clock.now())
        except AlreadyDone as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(f"{key.access_key_id} is revoked.")
