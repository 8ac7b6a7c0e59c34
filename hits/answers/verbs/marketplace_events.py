"""Listening: what the marketplace tells by itself marks HITs as due. An event is a hint, never an answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from functools import cache

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from common.env import origin
from hits.answers.rules.hits_to_harvest import mark_due
from hits.models import Assignment, Hit, Stage
from hits.mturk import events
from hits.mturk.errors import RefusedError
from hits.mturk.events import Event, EventQueue, Message
from hits.publishing.rules.marketplace_account import REGION, gateway

log = logging.getLogger(__name__)
# Events overtake what they tell of; a moment later it can be read.
WAIT_SECONDS = 1.0
REFUSED = "refused: "


def ensure_events(stage: Stage) -> bool:
    """Have the events of the stage's HITs sent to the configured queue; whether there was anything to do.

    Raises MarketplaceError when the marketplace does not answer. A queue that it refuses is logged and not offered
    again: answers are looked for anyway.
    """
    queue = settings.MTURK_EVENTS_QUEUE_URL
    if not queue or not stage.hit_types or stage.events_to in (queue, _refused(queue)):
        return False
    told = queue
    try:
        for hit_type in stage.hit_types:
            gateway().set_events(hit_type, queue, "SQS", events.WANTED)
    except RefusedError as error:
        log.error("The marketplace sends no events of %s to MTURK_EVENTS_QUEUE_URL: %s", stage, error)
        told = _refused(queue)
    Stage.objects.filter(pk=stage.pk).update(events_to=told)
    return True


def _refused(queue: str) -> str:
    return f"{REFUSED}{queue}"[:500]


def unsubscribed_stages() -> list[int]:
    """Stages with HITs at workers whose events go elsewhere than to the configured queue."""
    queue = settings.MTURK_EVENTS_QUEUE_URL
    if not queue:
        return []
    live = Hit.objects.filter(stage=OuterRef("pk"), state__in=[Hit.State.PLANNED, Hit.State.SENT, Hit.State.LIVE])
    stages = Stage.objects.exclude(hit_type_id="", earlier_hit_types=[]).exclude(events_to__in=[queue, _refused(queue)])
    return list(stages.filter(Exists(live)).order_by("pk").values_list("pk", flat=True))


@cache
def queue() -> EventQueue:
    """The configured one; `queue.cache_clear()` after settings have changed."""
    return EventQueue(
        settings.MTURK_EVENTS_QUEUE_URL,
        endpoint_url=origin(settings.MTURK_EVENTS_QUEUE_URL),
        region=REGION,
        key_id=settings.MTURK_EVENTS_ACCESS_KEY_ID,
        secret=settings.MTURK_EVENTS_SECRET_ACCESS_KEY,
    )


def receive(seconds: float = 20) -> int:
    """Take the queue's messages until it is empty or the time is over; returns how many there were.

    A message is deleted after what it tells is written down, so a crash lets it come again. Raises EventQueueError.
    """
    if not settings.MTURK_EVENTS_QUEUE_URL:
        return 0
    end, total = time.monotonic() + seconds, 0
    while time.monotonic() < end and (messages := queue().receive()):
        note([event for message in messages for event in _read(message)])
        queue().delete(messages)
        total += len(messages)
    return total


def _read(message: Message) -> list[Event]:
    try:
        return events.read_document(message.body)
    except ValueError as error:
        log.warning("A message of the queue of events is thrown away: %s It begins with %.200r", error, message.body)
        return []


def note(found: Sequence[Event]) -> int:
    """Mark the HITs of which these events say that something can be fetched; returns how many there were.

    Whatever is unknown here, known already, or about somebody else's HITs is passed over. An event counts as often
    as once: a HIT whose answers are all here is not looked at again.
    """
    now = timezone.now()
    rows = Assignment.objects.filter(assignment_id__in={event.assignment_id for event in found if event.assignment_id})
    here = set(rows.values_list("hit__hit_id", "assignment_id"))
    finished = {event.hit_id for event in found if event.kind == events.REVIEWABLE}
    submitted = {
        event.hit_id
        for event in found
        if event.kind == events.SUBMITTED and (event.hit_id, event.assignment_id) not in here
    }
    judged = {event.assignment_id for event in found if event.kind in (events.APPROVED, events.REJECTED)}
    live, expired = Q(state=Hit.State.LIVE), Q(expires_at__lte=now)
    # How an expired HIT ended, the list of reviewable HITs tells of a hundred with one call.
    may_be_complete = live & Q(harvested__lt=F("max_assignments")) & ~expired
    # One answer of several says nothing yet; the last one, and any that comes late, does.
    last = Q(harvested__gte=F("max_assignments") - 1, harvested__lt=F("max_assignments"))
    may_be_the_last = Q(state=Hit.State.CLOSED) | (live & (last | expired))
    # Nobody here has decided what the marketplace tells of these.
    undecided = rows.filter(assignment_id__in=judged, decision="").exclude(state=Assignment.State.APPROVED)
    return mark_due(
        Hit.objects.filter(
            (Q(hit_id__in=finished) & may_be_complete)
            | (Q(hit_id__in=submitted) & may_be_the_last)
            | Q(pk__in=undecided.values("hit"))
        ),
        WAIT_SECONDS,
    )
