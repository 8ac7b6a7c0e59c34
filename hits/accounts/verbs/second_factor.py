"""The second factor of an account: set up, confirmed, asked for, and taken away.

Security behavior: with it a password alone opens no session and makes no token. Turning it on ends the sessions that
were opened without it. Whoever calls counts the tries.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from common import second_factor as scheme
from common.second_factor import device_of
from hits.core.action_log import record_account
from hits.models import LeadSession, RecoveryCode
from hits.refusals import Refused


def codes_left(account: User) -> int:
    return RecoveryCode.objects.filter(user=account).count()


def begin(account: User) -> None:
    """Draw a key for an app; it counts for nothing until its first code. Raises Refused (second_factor_state)."""
    if not scheme.begin(account):
        raise Refused(
            "second_factor_state", "You have a second factor already. Remove it before you set up another app."
        )


def confirm(account: User, code: str, key: str | None) -> list[str]:
    """Turn it on; its recovery codes, none where the code is wrong. All sessions end but the one with this key."""
    with transaction.atomic():
        codes = scheme.confirm(account, code, RecoveryCode.objects.all())
        if codes:
            LeadSession.objects.filter(user=account).exclude(session_id=key or "").end()
            record_account(account, account, "turned the second factor on")
    return codes


def accept(account: User, code: str) -> str:
    """How the code is good (`common.second_factor.APP`, `RECOVERY`), or an empty word; it is used up."""
    with transaction.atomic():
        how = scheme.accept(account, code, RecoveryCode.objects.all())
        if how == scheme.RECOVERY:
            record_account(account, account, "used a recovery code", f"{codes_left(account)} left")
    return how


def new_codes(account: User, code: str) -> list[str]:
    """Recovery codes in the place of those before; none where the code is wrong."""
    with transaction.atomic():
        if not accept(account, code):
            return []
        record_account(account, account, "made new recovery codes")
        return scheme.new_codes(account, RecoveryCode.objects.all())


def remove(account: User, code: str) -> bool:
    """Turn it off; False where the code is wrong."""
    with transaction.atomic():
        if not accept(account, code):
            return False
        scheme.remove(account, RecoveryCode.objects.all())
        record_account(account, account, "turned the second factor off")
    return True


def reset(account: User) -> None:
    """Take it away from somebody who cannot sign in any more, and end the sessions.

    Raises Refused (second_factor_state).
    """
    with transaction.atomic():
        if not scheme.remove(account, RecoveryCode.objects.all()):
            raise Refused("second_factor_state", f"{account.get_username()} has no second factor. Nothing was changed.")
        LeadSession.objects.filter(user=account).end()
        record_account(account, None, "reset the second factor")


def check_for_token(account: User, code: str) -> None:
    """Before a password makes a token. Raises Refused (second_factor)."""
    if device_of(account) is None:
        if settings.REQUIRE_SECOND_FACTOR:
            raise Refused(
                "second_factor",
                "This server asks for a second factor. Sign in on the page and set it up first.",
                status=403,
            )
    elif not accept(account, code):
        raise Refused(
            "second_factor",
            "This account has a second factor: send a fresh code of the app as `code`, too.",
            status=403,
        )
