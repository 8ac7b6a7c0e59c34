"""How a HIT ends here: when it is finished, and what stays reserved for it then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Q, Sum

from hits.answers.models import Assignment
from hits.payments.models import LedgerEntry
from hits.publishing.models import Extension, Hit

# Between two looks at a HIT whose answers do not show yet: as long as they have been missing, within these bounds.
SHORTEST_WAIT, LONGEST_WAIT = timedelta(seconds=5), timedelta(minutes=5)
LONGEST_WAIT_AFTER_EXPIRY = timedelta(days=1)


@dataclass(frozen=True)
class Patience:
    """How long a read may lag behind, and how long the list of reviewable HITs may take to confirm an end."""

    settle: timedelta
    listing: timedelta


def growing(elapsed: timedelta, longest: timedelta) -> timedelta:
    """The wait until the next look at something that has been missing for so long: waits double."""
    return min(max(elapsed, SHORTEST_WAIT), longest)


def short_since(hit: Hit, now: datetime) -> datetime | None:
    """Since when answers are missing. What was seen before the HIT expired says nothing about its end."""
    if hit.short_since and has_ended(hit, now) and hit.expires_at and hit.short_since < hit.expires_at:
        return None
    return hit.short_since


def has_ended(hit: Hit, now: datetime) -> bool:
    return hit.expires_at is not None and hit.expires_at <= now


def judge(hit: Hit, answers: int, idle: bool, now: datetime, patience: Patience) -> bool:
    """Whether the HIT is finished, seen with so many answers; sets its columns and saves nothing.

    `idle` is whether nobody works on it any more and nobody can begin to. With all answers it is finished at once.
    With fewer, when it has expired, is idle and showed the same number for the time that reads may lag behind.
    Otherwise it is due again after a growing wait; before its expiry only as long as reads may lag behind.
    """
    first = now if answers > hit.harvested else short_since(hit, now) or now
    hit.harvested, hit.due_at, hit.short_since = answers, None, None
    if hit.state != Hit.State.LIVE:
        return False
    missing, ended = now - first, has_ended(hit, now)
    settled = missing >= patience.settle
    if answers >= hit.max_assignments or (ended and idle and settled):
        hit.state = Hit.State.CLOSED
        return True
    if ended:
        # The list of reviewable HITs confirms the end of a hundred with one call: it has the first word.
        confirmed = first + patience.settle + patience.listing
        hit.due_at, hit.short_since = max(confirmed, now + growing(missing, LONGEST_WAIT_AFTER_EXPIRY)), first
    elif not settled:
        hit.due_at, hit.short_since = now + growing(missing, LONGEST_WAIT), first
    return False


def balance(hits: Sequence[Hit], posting: Sequence[LedgerEntry]) -> list[LedgerEntry]:
    """The entries after which exactly the waiting answers of these closed HITs are reserved for.

    `posting` are entries of this transaction that are not written yet. A planned extension's money is its own.
    """
    pks = [hit.pk for hit in hits]
    extended = dict(
        Extension.objects.filter(hit__in=pks, state=Extension.State.DONE).values_list("hit").annotate(Sum("places"))
    )
    moved = dict(LedgerEntry.objects.filter(hit__in=pks).order_by().values_list("hit").annotate(Sum("reserved")))
    for entry in posting:
        moved[entry.hit_id] = moved.get(entry.hit_id, Decimal(0)) + entry.reserved
    waiting = _waiting(pks)
    return [
        LedgerEntry(
            stage_id=hit.stage_id,
            kind=LedgerEntry.Kind.RESERVE if excess < 0 else LedgerEntry.Kind.RELEASE,
            reserved=-excess,
            hit=hit,
            note="an answer came after closing" if excess < 0 else "expired without an answer",
        )
        for hit in hits
        if (
            excess := hit.unit_cost * (hit.created_with + extended.get(hit.pk, 0) - waiting.get(hit.pk, 0))
            + moved.get(hit.pk, Decimal(0))
        )
    ]


def _waiting(hit_pks: Sequence[int]) -> dict[int, int]:
    """HIT to the answers that may still be paid: those to be reviewed, and rejections that are being taken back."""
    taken_back = Q(state=Assignment.State.REJECTED, decision=Assignment.State.APPROVED)
    rows = Assignment.objects.filter(Q(state=Assignment.State.SUBMITTED) | taken_back, hit__in=hit_pks)
    return dict(rows.values_list("hit").annotate(Count("id")).order_by())
