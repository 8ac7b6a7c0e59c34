"""What operators change is written down, in the transaction of the change, and a form acts once."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from marketplace.models import Heartbeat, OperatorAction, Requester, Worker
from marketplace.rules.errors import AlreadyDone

_ABOUT_LENGTH = 500


@contextmanager
def act(
    operator: User,
    about: str,
    now: datetime,
    *,
    token: str = "",
    requester: Requester | None = None,
    worker: Worker | None = None,
) -> Iterator[OperatorAction]:
    """One transaction around a change and its record; the block may still set `action.about` and the rest.

    A `token` that was used before raises AlreadyDone and changes nothing; a twin that runs at the
    same moment waits here for the first. Requester and worker are written last: a reference locks
    its row a little, and the change inside takes its own locks in their order.
    """
    try:
        with transaction.atomic():
            action = OperatorAction.objects.create(
                operator=operator,
                operator_name=operator.get_username(),
                about=about[:_ABOUT_LENGTH],
                token=token,
                created_at=now,
            )
            action.requester, action.worker = requester, worker
            yield action
            action.about = action.about[:_ABOUT_LENGTH]
            action.save(update_fields=["about", "requester", "worker"])
    except IntegrityError:
        if token and OperatorAction.objects.filter(token=token).exists():
            raise AlreadyDone("This form was sent before. What it asked for was done once, and not again.") from None
        raise


def beat(name: str, now: datetime) -> None:
    """Write down that the program `name` runs."""
    if not Heartbeat.objects.filter(name=name).update(at=now):
        Heartbeat.objects.get_or_create(name=name, defaults={"at": now})
