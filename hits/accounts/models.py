"""What belongs to one account: tokens, sessions, recovery codes, tries of signing in, limits."""

from __future__ import annotations

import hashlib

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from common.second_factor import RecoveryCodeRow
from common.sessions import SessionRow
from common.tries import TriesRow
from hits.core.models.fields import DollarField


class SignInTries(TriesRow):
    """Tries of signing in, on the page and for a token."""


class LeadSession(SessionRow):
    """A browser in which a lead is signed in."""


class RecoveryCode(RecoveryCodeRow):
    """Signs a lead in, once, in the place of a code of the app."""


def _expired() -> Q:
    return Q(expires_at__lte=timezone.now())


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def expired(self) -> ApiTokenQuerySet:
        """Those whose time is over; nothing brings them back."""
        return self.filter(_expired())

    def living(self) -> ApiTokenQuerySet:
        """Those that sign in at this moment."""
        return self.filter(~_expired(), user__is_active=True)


class ApiToken(models.Model):
    """A lead's program signs in with it. Only its digest is kept: whoever reads this table cannot use it."""

    class Scope(models.TextChoices):
        READ = "read", "Read"
        WRITE = "write", "Read and change, without spending money"
        PAY = "pay", "Everything, spending money included"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=60)
    digest = models.CharField(max_length=64, unique=True)
    # The first characters, by which a person recognises it.
    start = models.CharField(max_length=16)
    scope = models.CharField(max_length=5, choices=Scope)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)

    objects = ApiTokenQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.name} ({self.start}…)"


def token_digest(token: str) -> str:
    """A token is 256 random bits, so a plain hash cannot be searched: it needs no salt and no slow function."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


class LeadLimit(models.Model):
    """The most that the budgets of all projects that this person owns may come to. Without a row there is no limit."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="lead_limit")
    amount = DollarField(help_text="$.")

    def __str__(self) -> str:
        return f"limit of {self.user_id}: {self.amount}"
