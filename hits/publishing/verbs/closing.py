"""Closing: HITs whose answers are no longer wanted end at the marketplace, and what nobody accepted is released.

Who has accepted one may still submit it and is paid. The reservation is released by the harvest, once the marketplace
shows that the HIT ended and that nobody works on it.
"""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils import timezone

from hits.answers.rules.hits_to_harvest import mark_due
from hits.core.jobs.leases import lease
from hits.models import Hit, Stage
from hits.mturk.errors import UnreachableError
from hits.publishing.rules.marketplace_account import end_at, gateway

CHUNK = 200
LEASE_SECONDS = 30


def close_unwanted(stage: Stage) -> int:
    """Expire the stage's HITs that no answer is wanted of; returns how many. Repeating is harmless.

    One that the marketplace refuses holds up no other. Raises UnreachableError when it does not answer.
    """
    closed = 0
    with lease(f"closing:{stage.pk}", seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        market, until = gateway(), timezone.now().replace(microsecond=0)
        tried: set[int] = set()
        while hits := [hit for hit in _unwanted().filter(stage=stage).order_by("id")[:CHUNK] if hit.pk not in tried]:
            tried |= {hit.pk for hit in hits}
            outcomes = market.run(lambda hit: end_at(market, hit, until), hits, beat=held.renew)
            done = Hit.objects.filter(pk__in=[hit.pk for hit, outcome in outcomes if outcome == until])
            # What was seen of the HIT's end before says nothing about the new one.
            closed += done.update(expires_at=until, short_since=None)
            mark_due(done)
            for _, outcome in outcomes:
                if isinstance(outcome, UnreachableError):
                    raise outcome
    return closed


def _unwanted() -> QuerySet[Hit]:
    return Hit.objects.filter(unwanted=True, state=Hit.State.LIVE, expires_at__gt=timezone.now())


def unfinished() -> list[int]:
    """Stages with HITs that are to be closed: since a crash, or since the marketplace did not answer."""
    return sorted(set(_unwanted().values_list("stage", flat=True)))
