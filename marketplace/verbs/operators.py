"""What operators change is written down, in the transaction of the change, and a form acts once. Their own accounts."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from common import second_factor
from marketplace.models import Heartbeat, OperatorAction, OperatorSession, RecoveryCode, Requester, Worker
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


def codes_left(operator: User) -> int:
    return RecoveryCode.objects.filter(user=operator).count()


def confirm_second_factor(operator: User, code: str, key: str | None, now: datetime) -> list[str]:
    """Turn it on; its recovery codes, none where the code is wrong. All sessions end but the one with this key."""
    with transaction.atomic():
        codes = second_factor.confirm(operator, code, RecoveryCode.objects.all())
        if codes:
            OperatorSession.objects.filter(user=operator).exclude(session_id=key or "").end()
            _write(operator, "Turned the own second factor on", now)
    return codes


def accept_code(operator: User, code: str, now: datetime) -> bool:
    """Whether the code is good; it is used up then."""
    with transaction.atomic():
        how = second_factor.accept(operator, code, RecoveryCode.objects.all())
        if how == second_factor.RECOVERY:
            _write(operator, f"Used a recovery code; {codes_left(operator)} are left", now)
    return bool(how)


def new_recovery_codes(operator: User, code: str, now: datetime) -> list[str]:
    """In the place of those before; none where the code is wrong."""
    with transaction.atomic():
        if not accept_code(operator, code, now):
            return []
        _write(operator, "Made new recovery codes", now)
        return second_factor.new_codes(operator, RecoveryCode.objects.all())


def remove_second_factor(operator: User, code: str, now: datetime) -> bool:
    """Turn it off; False where the code is wrong."""
    with transaction.atomic():
        if not accept_code(operator, code, now):
            return False
        second_factor.remove(operator, RecoveryCode.objects.all())
        _write(operator, "Turned the own second factor off", now)
    return True


def reset_second_factor(operator: User, now: datetime) -> bool:
    """Take it away from somebody who cannot sign in any more, and end the sessions. Whether there was one."""
    with transaction.atomic():
        if not second_factor.remove(operator, RecoveryCode.objects.all()):
            return False
        OperatorSession.objects.filter(user=operator).end()
        _write(operator, "The second factor was reset on the command line", now)
    return True


def end_session(operator: User, pk: int, now: datetime) -> bool:
    """Whether this operator had it."""
    with transaction.atomic():
        row = OperatorSession.objects.all().open_of(operator).filter(pk=pk).first()
        if row is None:
            return False
        OperatorSession.objects.filter(pk=pk).end()
        _write(operator, f"Ended a session of the own account: {row.device}", now)
    return True


def end_other_sessions(operator: User, key: str | None, now: datetime) -> int:
    """End all sessions of the operator but the one with this key; how many there were."""
    with transaction.atomic():
        ended: int = OperatorSession.objects.all().open_of(operator).exclude(session_id=key or "").end()
        if ended:
            _write(operator, f"Ended {ended} sessions of the own account", now)
    return ended


def _write(operator: User, about: str, now: datetime) -> None:
    with act(operator, about, now):
        pass
