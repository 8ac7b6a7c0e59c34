"""New requesters and workers."""

import secrets
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from common.sign_in import new_account
from marketplace.models import AccessKey, Requester, Worker
from marketplace.rules.errors import AlreadyDone
from marketplace.verbs import access, money, workers

KEY_USE_GRAIN = timedelta(hours=1)


def create_requester(
    name: str, balance: Decimal, now: datetime, access_key_id: str = "", secret: str = ""
) -> AccessKey:
    """A requester with a first deposit and one key; a key that is not given is drawn at random."""
    with transaction.atomic():
        requester = Requester.objects.create(name=name)
        drawn = _key_pair()
        key = AccessKey.objects.create(
            requester=requester,
            access_key_id=access_key_id or drawn["access_key_id"],
            secret=secret or drawn["secret"],
        )
        money.deposit(requester, balance, now)
    requester.refresh_from_db()
    return key


def create_worker(username: str, password: str, **attributes: Any) -> Worker:
    """A log-in with its worker; `attributes` are columns of Worker."""
    user = new_account(username, password)
    with transaction.atomic():
        user.save()
        return workers.create(user=user, **attributes)


def add_key(requester: Requester, label: str = "") -> AccessKey:
    """One more signing key, drawn at random."""
    return AccessKey.objects.create(requester=requester, label=label.strip(), **_key_pair())


def _key_pair() -> dict[str, str]:
    return {"access_key_id": "AKIA" + secrets.token_hex(8).upper(), "secret": secrets.token_urlsafe(30)}


def revoke_key(key: AccessKey, now: datetime) -> None:
    """The key signs nothing from now on. Raises AlreadyDone when it was revoked before."""
    if AccessKey.objects.filter(pk=key.pk, active=True).update(active=False, revoked_at=now) != 1:
        raise AlreadyDone(f"The key {key.access_key_id} was revoked before.")


def note_use(key: AccessKey, now: datetime) -> None:
    """Write down when a key was last used, to the hour: most calls write nothing."""
    before = now - KEY_USE_GRAIN
    if key.last_used_at is None or key.last_used_at <= before:
        # Of two calls at once one is enough.
        stale = AccessKey.objects.filter(Q(last_used_at=None) | Q(last_used_at__lte=before), pk=key.pk)
        stale.update(last_used_at=now)


def create_operator(username: str, password: str) -> User:
    """A log-in that may use the operator's pages. It is no worker."""
    operator: User = get_user_model().objects.create_user(username=username, password=password, is_staff=True)
    return operator


def suspend(worker: Worker, now: datetime) -> None:
    """The worker takes nothing new; what is in hand may be finished and is paid. Raises AlreadyDone.

    Sessions end: whoever knows the password signs in again.
    """
    with transaction.atomic():
        if Worker.objects.filter(pk=worker.pk, suspended_at=None).update(suspended_at=now) != 1:
            raise AlreadyDone(f"The worker {worker.worker_id} is suspended already.")
        access.end_sessions(worker.user)


def lift_suspension(worker: Worker) -> None:
    """Raises AlreadyDone when the worker is not suspended."""
    if Worker.objects.filter(pk=worker.pk, suspended_at__isnull=False).update(suspended_at=None) != 1:
        raise AlreadyDone(f"The worker {worker.worker_id} is not suspended.")


def choose_adult_content(worker: Worker, agreed: bool) -> None:
    """Whether the worker agrees to see content for adults; what is in hand stays in hand."""
    Worker.objects.filter(pk=worker.pk, erased_at=None).update(adult=agreed)
