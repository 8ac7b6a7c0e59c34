"""New requesters and workers."""

import secrets
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction

from marketplace.models import AccessKey, Requester, Worker
from marketplace.verbs import money


def create_requester(
    name: str, balance: Decimal, now: datetime, access_key_id: str = "", secret: str = ""
) -> AccessKey:
    """A requester with a first deposit and one key; a key that is not given is drawn at random."""
    with transaction.atomic():
        requester = Requester.objects.create(name=name)
        key = AccessKey.objects.create(
            requester=requester,
            access_key_id=access_key_id or "AKIA" + secrets.token_hex(8).upper(),
            secret=secret or secrets.token_urlsafe(30),
        )
        money.deposit(requester, balance, now)
    requester.refresh_from_db()
    return key


def create_worker(username: str, password: str, **attributes: Any) -> Worker:
    """A log-in with its worker; `attributes` are columns of Worker."""
    with transaction.atomic():
        user = get_user_model().objects.create_user(username=username, password=password)
        return Worker.objects.create(user=user, **attributes)
