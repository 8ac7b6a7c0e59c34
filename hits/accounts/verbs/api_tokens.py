"""Tokens of leads' programs: made, shown once, and revoked."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from hits.accounts.models import token_digest
from hits.core.action_log import record_account
from hits.models import ApiToken
from hits.refusals import Refused

PREFIX = "annotate_"
SHOWN = len(PREFIX) + 4
USUAL_DAYS, MOST_DAYS = 90, 365
MOST_TOKENS = 50


def make_token(user: User, name: str, scope: str, days: int = USUAL_DAYS) -> tuple[ApiToken, str]:
    """A new token's row, and the token itself, which is nowhere kept. `days` is at most MOST_DAYS.

    Raises Refused (too_many_tokens).
    """
    ApiToken.objects.expired().filter(user=user).delete()
    if user.api_tokens.count() >= MOST_TOKENS:
        raise Refused(
            "too_many_tokens", f"{user.get_username()} has {MOST_TOKENS} API tokens. Revoke one that is not needed."
        )
    token = PREFIX + secrets.token_urlsafe(32)
    expires_at = timezone.now() + timedelta(days=min(days, MOST_DAYS))
    with transaction.atomic():
        row = ApiToken.objects.create(
            user=user, name=name, digest=token_digest(token), start=token[:SHOWN], scope=scope, expires_at=expires_at
        )
        record_account(user, user, "made an API token", f"{name} ({scope})")
    return row, token


def revoke_token(user: User, pk: int) -> bool:
    """Whether this person had it."""
    with transaction.atomic():
        row = user.api_tokens.filter(pk=pk).first()
        if row is None:
            return False
        row.delete()
        record_account(user, user, "revoked an API token", row.name)
    return True


class TokensEndWithThePassword:
    """A validator of passwords, because Django tells these of every changed password, whoever changed it and where.

    It accepts every password.
    """

    def validate(self, password: str, user: Any = None) -> None:
        return None

    def get_help_text(self) -> str:
        return ""

    def password_changed(self, password: str, user: Any = None) -> None:
        if user is not None and user.pk is not None:
            ApiToken.objects.filter(user=user.pk).delete()
