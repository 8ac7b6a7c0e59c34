"""Counting tries where every process sees them: in the database, under a keyed hash."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import F
from django.utils.crypto import salted_hmac

from marketplace.models import Attempts
from marketplace.rules.attempts import FORGOTTEN_AFTER, Patience
from marketplace.rules.errors import TooManyAttempts


@dataclass(frozen=True)
class Tried:
    """What is tried, and by whom: a name, an address, both."""

    what: str
    who: str

    @property
    def key(self) -> str:
        return salted_hmac("marketplace.attempts", f"{self.what}\n{self.who}", algorithm="sha256").hexdigest()


def count(tries: Mapping[Tried, Patience], now: datetime) -> None:
    """Count one try under every key, or raise TooManyAttempts and count nothing.

    Called before the try is made: a hundred guesses at the same moment are a hundred counts.
    """
    patience = {tried.key: each for tried, each in tries.items()}
    with transaction.atomic():
        Attempts.objects.bulk_create(
            [Attempts(key=key, last_at=now) for key in sorted(patience)], ignore_conflicts=True
        )
        rows = list(Attempts.objects.select_for_update().filter(key__in=patience).order_by("key"))
        paused = [row.paused_until for row in rows if row.paused_until and row.paused_until > now]
        if paused:
            raise TooManyAttempts(max(paused))
        for row in rows:
            old = row.last_at <= now - FORGOTTEN_AFTER
            row.count = 1 if old else row.count + 1
            row.last_at = now
            row.paused_until = now + patience[row.key].pause(row.count)
            row.save(update_fields=["count", "last_at", "paused_until"])


def forgive(tried: Tried) -> None:
    """The try was good: start again from nothing."""
    Attempts.objects.filter(key=tried.key).delete()


def take_back(tried: Tried) -> None:
    """The try was good, but says nothing about the others under the same key: one less."""
    Attempts.objects.filter(key=tried.key, count__gt=0).update(count=F("count") - 1, paused_until=None)


def forget(now: datetime) -> int:
    """Delete counts that have run out; how many."""
    with transaction.atomic():
        # What somebody counts on at this moment is left for the next time: it is no longer old then.
        skip_locked = connection.features.has_select_for_update_skip_locked
        old = Attempts.objects.filter(last_at__lte=now - FORGOTTEN_AFTER).select_for_update(skip_locked=skip_locked)
        return Attempts.objects.filter(pk__in=list(old.values_list("pk", flat=True))).delete()[0]
