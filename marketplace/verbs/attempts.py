"""Tries that are counted in the database, where every process sees them."""

from collections.abc import Mapping
from datetime import datetime

from common.patience import Patience
from common.tries import Tried
from marketplace.models import Attempts
from marketplace.rules.errors import TooManyAttempts


def count(tries: Mapping[Tried, Patience], now: datetime, back_url: str = "") -> None:
    """Count one try under every key, or raise TooManyAttempts and count nothing. Called before the try is made."""
    until = Attempts.objects.count_tries(tries, now)
    if until is not None:
        raise TooManyAttempts(until, back_url)


def forget(now: datetime) -> int:
    """Delete counts that have run out; how many."""
    return Attempts.objects.forget(now)
