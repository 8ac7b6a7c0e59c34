from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from common.configuration import is_home
from marketplace.models import Worker
from marketplace.verbs import accounts

_USERNAMES = ("worker1", "worker2", "worker3")
_PASSWORD = "worker"
_OPERATOR = "operator"
# Standing enough for the usual requirements, so that a first look is not a closed door.
_STANDING = {
    "country": "US",
    "subdivision": "CA",
    "adult": True,
    "masters": True,
    "percent_approved_override": 99,
    "number_approved_override": 6000,
}


class Command(BaseCommand):
    help = (
        "Create the sample workers worker1 to worker3 (password: worker) and the operator operator (password: "
        "operator) on a sandbox of this machine."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if not is_home(settings.MARKETPLACE_PUBLIC_URL) or not (settings.DEBUG or settings.MARKETPLACE_SANDBOX):
            raise CommandError(
                "Well-known passwords are for a sandbox on this machine only: MARKETPLACE_PUBLIC_URL must be "
                "loopback and MARKETPLACE_SANDBOX=True. Use createworker on a server."
            )
        for username in _USERNAMES:
            user = get_user_model().objects.filter(username=username).first()
            worker = Worker.objects.filter(user=user).first() if user else None
            if user is None:
                worker = accounts.create_worker(username, _PASSWORD, **_STANDING)
            if worker is None:
                raise CommandError(f"The user {username} exists and is no worker; remove or rename it first.")
            self.stdout.write(f"{username} {_PASSWORD} {worker.worker_id}")
        user = get_user_model().objects.filter(username=_OPERATOR).first()
        if user is None:
            user = accounts.create_operator(_OPERATOR, _OPERATOR)
        if not user.is_staff:
            raise CommandError(f"The user {_OPERATOR} exists and is no operator; remove or rename it first.")
        self.stdout.write(f"{_OPERATOR} {_OPERATOR}")
