"""Ending the sessions of an account: one, or all but the one that asks."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from common.sessions import SessionQuerySet
from hits.core.action_log import record_account
from hits.models import LeadSession


def open_sessions(account: User) -> SessionQuerySet:
    """Those that sign this person in, the one last seen first."""
    return LeadSession.objects.all().open_of(account)


def end_session(account: User, pk: int, user: User | None) -> bool:
    """Whether this account had it."""
    with transaction.atomic():
        row = open_sessions(account).filter(pk=pk).first()
        if row is None:
            return False
        LeadSession.objects.filter(pk=pk).end()
        record_account(account, user, "ended a session", row.device)
    return True


def end_others(account: User, key: str | None, user: User | None) -> int:
    """End all sessions but the one with this key; without a key all. How many there were."""
    with transaction.atomic():
        ended: int = open_sessions(account).exclude(session_id=key or "").end()
        if ended:
            record_account(account, user, "ended sessions", str(ended))
    return ended


class SessionsEndWithThePassword:
    """A validator of passwords that accepts every one: Django tells these of every changed password, wherever it is."""

    def validate(self, password: str, user: Any = None) -> None:
        return None

    def get_help_text(self) -> str:
        return ""

    def password_changed(self, password: str, user: Any = None) -> None:
        if user is not None and user.pk is not None:
            LeadSession.objects.filter(user=user.pk).end()
