"""Events of HITs, kept for those who asked to be told, and the settings by which they ask.

An event is written in the transaction of its change; marketplace.verbs.deliveries sends it later.
"""

import secrets
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from marketplace.models import Assignment, Event, Hit, HitType, Requester, Webhook
from marketplace.rules import notifications
from marketplace.rules.errors import ParameterValidationError

Happening = tuple[str, Hit, datetime, Assignment | None]


def record(event_type: str, hit: Hit, now: datetime, assignment: Assignment | None = None) -> None:
    """Keep an event of `hit` that happened at `now`; no query when nobody listens and `hit` is loaded whole."""
    record_all([(event_type, hit, now, assignment)])


def record_all(happenings: Iterable[Happening]) -> None:
    """Keep many events with one query."""
    rows = [row for happening in happenings for row in _rows(*happening)]
    if rows:
        Event.objects.bulk_create(rows)


def _rows(event_type: str, hit: Hit, happened_at: datetime, assignment: Assignment | None) -> list[Event]:
    places = []
    kind = hit.hit_type
    if kind.notification_active and event_type in kind.notification.get("EventTypes", ()):
        places.append((kind.notification["Transport"], kind.notification["Destination"]))
    if hit.requester.webhook_active:
        # Where that is, the sender looks up: the address may change before the event is sent.
        places.append((notifications.WEBHOOK, ""))
    if not places:
        return []
    about = None if assignment is None else assignment.assignment_id
    content = notifications.event(event_type, happened_at, kind.hit_type_id, hit.hit_id, about)
    return [
        Event(requester_id=hit.requester_id, transport=transport, destination=destination, content=content)
        for transport, destination in places
    ]


def heard() -> Q:
    """HITs whose events somebody may want, without a join: the condition also fits an UPDATE."""
    return Q(hit_type__in=HitType.objects.filter(notification_active=True).values("pk")) | Q(
        requester__in=Requester.objects.filter(webhook_active=True).values("pk")
    )


def loopback_allowed() -> bool:
    """Whether notifications may go to this machine: only where anybody may do anything anyway."""
    return bool(settings.MARKETPLACE_TEST_CONTROLS or settings.MARKETPLACE_ACCEPT_ANY_KEY)


def set_notification(
    hit_type: HitType, specification: dict[str, Any] | None, active: bool | None
) -> notifications.Specification:
    """Give a HIT type another notification specification, switch it on or off, or both; returns what holds now.

    A first specification is active unless told otherwise; a later one leaves the switch as it is.
    """
    checked = None
    if specification is not None:
        checked = notifications.check_specification(specification, test=False, loopback=loopback_allowed())
    with transaction.atomic():
        row = HitType.objects.select_for_update(no_key=True).get(pk=hit_type.pk)
        if checked is None and active is None:
            raise ParameterValidationError("Give Notification, Active, or both.")
        if checked is None and not row.notification:
            raise ParameterValidationError("The HIT type has no notification specification yet: give Notification.")
        if active is not None:
            row.notification_active = active
        elif not row.notification:
            row.notification_active = True
        if checked is not None:
            row.notification = checked
        row.save(update_fields=["notification", "notification_active"])
    return row.notification


def set_webhook(requester: Requester, url: str, now: datetime) -> Webhook:
    """Send all events of the requester's HITs to `url` from now on.

    Another address gets another secret; the same address keeps its own. Raises ParameterValidationError.
    """
    notifications.check_webhook_url(url, loopback=loopback_allowed())
    with transaction.atomic():
        Requester.objects.select_for_update(no_key=True).get(pk=requester.pk)
        webhook = Webhook.objects.filter(requester=requester).first()
        if webhook is None:
            webhook = Webhook(requester=requester, created_at=now)
        if webhook.url != url:
            webhook.url, webhook.secret = url, secrets.token_urlsafe(32)
        webhook.active = True
        webhook.save()
        Requester.objects.filter(pk=requester.pk).update(webhook_active=True)
    requester.webhook_active = True
    return webhook


def stop_webhook(requester: Requester) -> None:
    """Send nothing more to the requester's webhook, not even what already waits; the address is kept."""
    with transaction.atomic():
        Requester.objects.filter(pk=requester.pk).update(webhook_active=False)
        Webhook.objects.filter(requester=requester).update(active=False)
    requester.webhook_active = False
