"""Sends what marketplace.verbs.events has kept: pack, claim, send, note how it ended.

Sending happens outside every transaction. A claim moves a notification's next attempt into the future
first, so that a process that dies while sending leaves one that another sends again: at least once.
"""

import logging
import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F

from marketplace.models import Controls, Event, Notification, Requester, Webhook
from marketplace.rules import limits, notifications
from marketplace.transports import Letter, TransportError, send
from marketplace.verbs import clock, events

log = logging.getLogger(__name__)
# Longer than a thread may need for all that it has been given.
_CLAIM = timedelta(seconds=300)
_PACK = 500
_AT_ONCE = 8
# For one destination in one round, so that a long queue for one does not keep the others waiting; and few enough
# that the claim on the last one holds until its turn.
_IN_A_ROW = 10
# In one call, so that a process that is told to end can.
_ROUNDS = 20


def deliver(now: datetime) -> int:
    """Pack what has happened and send what is due, each notification at most once; how many were taken up.

    A long backlog takes several calls.
    """
    while Event.objects.exists() and _pack(now) == _PACK:
        pass
    taken = 0
    for _ in range(_ROUNDS):
        claimed = _claim(now)
        if not claimed:
            break
        taken += sum(len(rows) for rows in claimed.values())
        _send_all(claimed, now)
    return taken


def _pack(now: datetime) -> int:
    """Turn kept events into notifications, several events in each; how many events."""
    controls = _controls()
    with transaction.atomic():
        skip_locked = connection.features.has_select_for_update_skip_locked
        rows = Event.objects.select_for_update(of=("self",), skip_locked=skip_locked)
        found = list(rows.select_related("requester").order_by("pk")[:_PACK])
        if found:
            Notification.objects.bulk_create(_packed(found, now, controls))
            Event.objects.filter(pk__in=[row.pk for row in found]).delete()
    return len(found)


def _packed(found: Iterable[Event], now: datetime, controls: Controls) -> list[Notification]:
    places: dict[tuple[int, str, str], list[Event]] = defaultdict(list)
    for row in found:
        places[row.requester_id, row.transport, row.destination].append(row)
    due_at = now + timedelta(seconds=controls.event_delay_seconds)
    return [
        _notification(rows[0].requester, rows[0].transport, rows[0].destination, chunk, now, due_at)
        for rows in places.values()
        for chunk in _chunks([row.content for row in rows])
    ]


def _chunks(entries: Iterable[dict[str, str]]) -> Iterable[list[dict[str, str]]]:
    rest = iter(entries)
    while chunk := list(islice(rest, notifications.EVENTS_PER_MESSAGE)):
        yield chunk


def _notification(
    requester: Requester,
    transport: str,
    destination: str,
    entries: Sequence[dict[str, str]],
    now: datetime,
    due_at: datetime,
) -> Notification:
    document_id = secrets.token_hex(20)
    return Notification(
        requester=requester,
        transport=transport,
        destination=destination,
        document_id=document_id,
        body=notifications.document(entries, document_id, requester.customer_id),
        created_at=now,
        due_at=due_at,
    )


def _claim(now: datetime) -> dict[int, list[Notification]]:
    """The next due notifications, taken so that no other process sends them, in one list for each destination."""
    waiting = Notification.objects.filter(done_at=None, due_at__lte=now).order_by("due_at", "pk")
    lists: dict[Any, list[Notification]] = defaultdict(list)
    for row in waiting[: _AT_ONCE * _IN_A_ROW]:
        place = (row.requester_id if row.transport == notifications.WEBHOOK else 0, row.transport, row.destination)
        if len(lists[place]) < _IN_A_ROW and _take(row, now):
            lists[place].append(row)
    return dict(enumerate(rows for rows in lists.values() if rows))


def _take(row: Notification, now: datetime) -> bool:
    unchanged = Notification.objects.filter(pk=row.pk, done_at=None, due_at=row.due_at)
    row.attempts += 1
    return unchanged.update(due_at=now + _CLAIM, attempts=row.attempts) == 1


def _send_all(claimed: dict[int, list[Notification]], now: datetime) -> None:
    letters = {number: [_letter(row) for row in rows] for number, rows in claimed.items()}
    copies = _controls().event_copies
    with ThreadPoolExecutor(min(_AT_ONCE, len(letters))) as pool:
        outcomes = pool.map(lambda batch: _send_in_turn(batch, copies), letters.values())
        for rows, outcome in zip(claimed.values(), outcomes, strict=True):
            _note(rows, outcome, now)


def _letter(row: Notification) -> Letter | TransportError:
    loopback = events.loopback_allowed()
    if row.transport != notifications.WEBHOOK:
        return Letter(row.transport, row.destination, row.body, clock.wall(), loopback=loopback)
    hook = Webhook.objects.filter(requester=row.requester_id, active=True).first()
    if hook is None:
        return TransportError("The webhook was switched off.", permanent=True)
    return Letter(row.transport, hook.url, row.body, clock.wall(), hook.secret, loopback)


def _send_in_turn(letters: Sequence[Letter | TransportError], copies: int) -> list[TransportError | None]:
    """Try the letters to one destination until one fails for now; one outcome for each that was tried.

    Runs in a thread of its own and touches no database.
    """
    outcomes: list[TransportError | None] = []
    for letter in letters:
        outcome = letter if isinstance(letter, TransportError) else _attempt(letter, copies)
        outcomes.append(outcome)
        if outcome is not None and not outcome.permanent:
            break
    return outcomes


def _attempt(letter: Letter, copies: int) -> TransportError | None:
    try:
        for _ in range(copies):
            send(letter)
    except TransportError as error:
        return error
    except Exception as error:
        # One message that trips over a mistake of ours must not stop all the others.
        log.exception("A notification to %s could not be sent.", letter.destination)
        return TransportError(f"{type(error).__name__} while sending")
    return None


def _note(rows: Sequence[Notification], outcomes: Sequence[TransportError | None], now: datetime) -> None:
    untried = [row.pk for row in rows[len(outcomes) :]]
    Notification.objects.filter(pk__in=untried, done_at=None).update(attempts=F("attempts") - 1, due_at=now)
    for row, outcome in zip(rows, outcomes, strict=False):
        if outcome is None:
            _finish(row, now, delivered=True)
        else:
            _note_failure(row, outcome, now)


def _note_failure(row: Notification, error: TransportError, now: datetime) -> None:
    wait = notifications.retry_after(row.attempts)
    row.reason = str(error)[:500]
    if error.permanent:
        _finish(row, now, delivered=False)
        return
    if wait is None or now - row.created_at >= limits.NOTIFICATION_LIFE:
        _finish(row, now, delivered=False)
    else:
        row.due_at = now + timedelta(seconds=wait)
        row.save(update_fields=["due_at", "reason"])
    _hold_back(row, now, now + timedelta(seconds=wait or notifications.RETRY_SECONDS[-1]))


def _hold_back(failed: Notification, now: datetime, until: datetime) -> None:
    """Let all else for a destination that does not answer wait too, or end with it when it is too old."""
    others = Notification.objects.filter(
        done_at=None, due_at__lte=now, transport=failed.transport, destination=failed.destination
    )
    if failed.transport == notifications.WEBHOOK:
        others = others.filter(requester=failed.requester_id)
    old = others.filter(created_at__lte=now - limits.NOTIFICATION_LIFE)
    old.update(done_at=now, delivered=False, reason=failed.reason)
    others.update(due_at=until)


def _finish(row: Notification, now: datetime, *, delivered: bool) -> None:
    row.done_at, row.delivered = now, delivered
    if delivered:
        row.reason = ""
    row.save(update_fields=["done_at", "delivered", "reason"])


def send_test(requester: Requester, specification: notifications.Specification, event_type: str, now: datetime) -> None:
    """Send one made-up event now; if it cannot be sent it is tried again like any other."""
    entry = notifications.test_event(event_type, now)
    row = _notification(requester, specification["Transport"], specification["Destination"], [entry], now, now)
    row.attempts, row.due_at = 1, now + _CLAIM
    row.save()
    _send_all({0: [row]}, now)


def send_again(notification: Notification, now: datetime) -> bool:
    """Give a notification that was given up a new start; False when it is not one."""
    given_up = Notification.objects.filter(pk=notification.pk, delivered=False, done_at__isnull=False)
    return given_up.update(done_at=None, due_at=now, attempts=0, reason="") == 1


def forget(now: datetime, limit: int = 1000) -> int:
    """Remove notifications that arrived days ago, or were given up weeks ago."""
    removed = 0
    for delivered, kept in ((True, limits.DELIVERED_KEPT), (False, limits.GIVEN_UP_KEPT)):
        old = Notification.objects.filter(delivered=delivered, done_at__lte=now - kept)
        removed += Notification.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:limit])).delete()[0]
    return removed


def _controls() -> Controls:
    found = Controls.objects.filter(pk=1).first() if settings.MARKETPLACE_TEST_CONTROLS else None
    return found or Controls()
