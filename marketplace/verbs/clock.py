"""The time that the marketplace counts with. Everything here asks this clock and no other.

With MARKETPLACE_TEST_CONTROLS tests may move it; without, it costs no query.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from marketplace.models import Controls


def now() -> datetime:
    return wall() + offset() if settings.MARKETPLACE_TEST_CONTROLS else wall()


def wall() -> datetime:
    """The machine's own time, which nobody moves: what other machines' clocks are compared with."""
    return timezone.now()


def offset() -> timedelta:
    """How far the clock has been moved forward."""
    row = Controls.objects.filter(pk=1).values_list("clock_offset_ms", flat=True).first()
    return timedelta(milliseconds=row or 0)


def advance(duration: timedelta) -> None:
    """Move the clock forward; it never goes back, except by reset()."""
    if duration < timedelta(0):
        raise ValueError("the clock only moves forward")
    with transaction.atomic():
        Controls.objects.get_or_create(pk=1)
        step = int(duration / timedelta(milliseconds=1))
        Controls.objects.filter(pk=1).update(clock_offset_ms=F("clock_offset_ms") + step)


def reset() -> None:
    """Back to the machine's own time."""
    Controls.objects.filter(pk=1).update(clock_offset_ms=0)
