"""What the marketplace depends on, as /ready/ says it."""

from __future__ import annotations

from django.conf import settings

from common.probes import Check, database, disk, fresh
from marketplace.models import Heartbeat
from marketplace.site.operator.queries import SILENT_AFTER
from marketplace.verbs import clock


def tick_age() -> float | None:
    """Seconds since the program `tick` last did all that was due; None for never."""
    beat = Heartbeat.objects.filter(name="tick").first()
    return None if beat is None else (clock.now() - beat.at).total_seconds()


def tick() -> str:
    return fresh("tick", tick_age(), SILENT_AFTER.total_seconds())


CHECKS: dict[str, Check] = {"database": database, "tick": tick, "disk": disk(settings.DATA_DIR)}
