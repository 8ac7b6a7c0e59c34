"""Idempotency tokens: a call that carries one is done once in 24 hours, however often it arrives."""

from datetime import datetime

from marketplace.models import Hit, RequestToken
from marketplace.rules import limits

# What is kept apart: the same token may be used once for each.
CREATE, EXTEND, BONUS = "create", "extend", "bonus"


def use(hit: Hit, purpose: str, token: str, now: datetime) -> None:
    """Raises IntegrityError when the token was used; a concurrent twin waits here for the first."""
    if token:
        RequestToken.objects.create(
            requester_id=hit.requester_id, purpose=purpose, token=token, hit=hit, created_at=now
        )


def first_use(requester_id: int, purpose: str, token: str, now: datetime) -> RequestToken | None:
    """The token's first use within its life; an outlived one is removed, so that it can be used again."""
    tokens = RequestToken.objects.filter(requester_id=requester_id, purpose=purpose, token=token)
    tokens.filter(created_at__lte=now - limits.REQUEST_TOKEN_LIFE).delete()
    return tokens.select_related("hit").first()


def forget(now: datetime) -> int:
    """Remove tokens that no longer protect anything."""
    return RequestToken.objects.filter(created_at__lte=now - limits.REQUEST_TOKEN_LIFE).delete()[0]
