"""Which HITs have answers to fetch: a mark on the row, set by whoever learns of it, cleared by the harvest."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from hits.answers.models import Assignment
from hits.items.models import Item
from hits.publishing.models import Hit
from hits.publishing.rules.hit_ending import Patience
from hits.stages.models import Stage

# HITs that one call of a list tells of.
LIST_PAGE = 100
LONGEST_SWEEP_WAIT = timedelta(hours=6)
# How many times longer than usual the list stays unread where it has told nothing new again and again.
RAREST = 8


def mark_due(hits: QuerySet[Hit], seconds: float = 0) -> int:
    """Have the answers of these HITs fetched `seconds` from now; returns how many were marked.

    A mark that lies in the past is set anew: the harvest clears only the mark that it saw before it looked, so what
    happens while it looks is fetched by another look.
    """
    now = timezone.now()
    when = now + timedelta(seconds=seconds)
    return hits.filter(deleted_at=None).exclude(due_at__gt=now, due_at__lte=when).update(due_at=when)


def mark_overdue(stage: Stage) -> int:
    """Held answers whose deadline passed were approved by the marketplace: one look a HIT tells of all."""
    late = stage.assignments.filter(overdue(timezone.now()))
    return mark_due(stage.hits.filter(pk__in=late.values("hit"), due_at=None))


def mark_unlisted(stage: Stage, swept_at: datetime, patience: Patience) -> int:
    """HITs that should be on the list by now and are not, for instance because somebody deleted them there."""
    settled = swept_at - patience.settle - patience.listing
    live = stage.hits.filter(state=Hit.State.LIVE, expires_at__lte=settled, hit_id__isnull=False)
    unlooked = live.filter(due_at=None, short_since=None)
    longest = unlooked.aggregate(most=Max("assignment_seconds"))["most"] or 0
    return mark_due(unlooked.filter(expires_at__lte=settled - timedelta(seconds=longest)))


def live_stages() -> list[int]:
    """Stages with something to fetch now: a HIT that is due, an answer that should be approved by now, a sweep."""
    now = timezone.now()
    due = Hit.objects.filter(due_at__lte=now, hit_id__isnull=False)
    late = Assignment.objects.filter(overdue(now), hit__due_at=None, hit__deleted_at=None)
    found = {*due.values_list("stage", flat=True).distinct(), *late.values_list("stage", flat=True).distinct()}
    return sorted(found | set(sweeps_due()))


def sweeps_due(stage_pks: Iterable[int] | None = None) -> list[int]:
    """Stages whose list of reviewable HITs is to be read now, among these or all that have HITs at workers.

    The list holds what is finished and not deleted, so its part that tells nothing new only grows, and where
    pages and events tell of every answer it tells nothing at all. The rule: one page every HARVEST_SWEEP_SECONDS,
    thus a list of n pages every n times that long; twice as long after each reading that told nothing new, up to
    eight times; at least every six hours. While HITs have expired and are not closed, the list alone tells how they
    ended: it is read every HARVEST_SWEEP_SECONDS then.
    """
    now = timezone.now()
    step = timedelta(seconds=settings.HARVEST_SWEEP_SECONDS)
    mine = Hit.objects.filter(stage=OuterRef("pk"))
    live = mine.filter(state=Hit.State.LIVE)
    finished = mine.filter(state=Hit.State.CLOSED, deleted_at=None).order_by().values("stage").annotate(n=Count("id"))
    chosen = Exists(live) if stage_pks is None else Q(pk__in=list(stage_pks))
    stages = Stage.objects.filter(chosen).exclude(hit_type_id="", earlier_hit_types=[])
    rows = stages.filter(Q(swept_at=None) | Q(swept_at__lte=now - step)).annotate(
        finished=Coalesce(Subquery(finished.values("n")), 0), expired=Exists(live.filter(expires_at__lte=now))
    )
    found = rows.values_list("pk", "swept_at", "finished", "idle_sweeps", "expired").order_by("pk")
    due = []
    for pk, swept_at, finished, idle, expired in found:
        wait = min(step * (1 + finished // LIST_PAGE) * min(2**idle, RAREST), LONGEST_SWEEP_WAIT)
        if swept_at is None or now - swept_at >= (step if expired else max(step, wait)):
            due.append(pk)
    return due


def overdue(now: datetime) -> Q:
    return Q(state=Assignment.State.SUBMITTED, auto_approval_at__lte=now)


def unconcluded_stages() -> list[int]:
    """Stages with answers that nobody scored, or with items to which something happened that no verdict has seen."""
    scored = Assignment.objects.filter(scored=False).values_list("stage", flat=True).distinct()
    decided = Item.objects.filter(stale=True).values_list("stage", flat=True).distinct()
    return sorted({*scored, *decided})
