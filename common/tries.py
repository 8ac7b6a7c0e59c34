"""Counting tries in the database, where every process sees them, under a keyed hash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, models, transaction
from django.db.models import F
from django.utils.crypto import salted_hmac

from common.patience import FORGOTTEN_AFTER, Patience


@dataclass(frozen=True)
class Tried:
    """What is tried, and by whom: a name, an address, both."""

    what: str
    who: str

    @property
    def key(self) -> str:
        return salted_hmac("attempts", f"{self.what}\n{self.who}", algorithm="sha256").hexdigest()


class TriesQuerySet(models.QuerySet["TriesRow"]):
    def count_tries(self, tries: Mapping[Tried, Patience], now: datetime) -> datetime | None:
        """Count one try under every key and return None, or count nothing and return when to try again.

        Called before the try is made: a hundred guesses at the same moment are a hundred counts.
        """
        patience = {tried.key: each for tried, each in tries.items()}
        with transaction.atomic():
            self.bulk_create([self.model(key=key, last_at=now) for key in sorted(patience)], ignore_conflicts=True)
            rows = list(self.select_for_update().filter(key__in=patience).order_by("key"))
            paused = [row.paused_until for row in rows if row.paused_until and row.paused_until > now]
            if paused:
                return max(paused)
            for row in rows:
                old = row.last_at <= now - FORGOTTEN_AFTER
                row.count = 1 if old else row.count + 1
                row.last_at = now
                # No pause leaves no moment: another try may have read the clock before this one, and come after it.
                pause = patience[row.key].pause(row.count)
                row.paused_until = now + pause if pause else None
                row.save(update_fields=["count", "last_at", "paused_until"])
        return None

    def forgive(self, tried: Tried) -> None:
        """The try was good: start again from nothing."""
        self.filter(key=tried.key).delete()

    def take_back(self, tried: Tried) -> None:
        """The try was good, but says nothing about the others under the same key: one less."""
        self.filter(key=tried.key, count__gt=0).update(count=F("count") - 1, paused_until=None)

    def forget(self, now: datetime) -> int:
        """Delete counts that have run out; how many."""
        with transaction.atomic():
            # What somebody counts on at this moment is left for the next time: it is no longer old then.
            skip_locked = connection.features.has_select_for_update_skip_locked
            old = self.filter(last_at__lte=now - FORGOTTEN_AFTER).select_for_update(skip_locked=skip_locked)
            return self.filter(pk__in=list(old.values_list("pk", flat=True))).delete()[0]


class TriesRow(models.Model):
    """How often something was tried lately, under a keyed hash: neither names nor addresses can be read here."""

    key = models.CharField(max_length=64, unique=True)
    count = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(db_index=True)
    paused_until = models.DateTimeField(null=True, blank=True)

    objects = TriesQuerySet.as_manager()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.key[:8]} {self.count}"
