"""Webhooks are sent what was written down for them: each message until it arrives, in their order, at least once.

The number of an attempt is committed before it is made. So a message whose outcome a crash has lost is sent again with
a larger one, and from 2 on its receiver knows that it may have come before. While a receiver does not answer, all that
is for it waits; what it answers with an error waits alone, and the rest goes on. No webhook waits for another one for
longer than a few calls take.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from hits.domain import webhook_events
from hits.domain.action_log import record
from hits.domain.leases import lease
from hits.domain.outbox import carry_out, is_due, mark_sent, standing
from hits.domain.restorations import why_calls_wait
from hits.domain.webhook_calls import Outcome, SideBySide, attempt, wait_after
from hits.models import Webhook, WebhookDelivery

log = logging.getLogger(__name__)
State = WebhookDelivery.State
LEASE_SECONDS = 30
# Webhooks that are called in one round, all at the same time; and messages of one of them.
AT_ONCE, IN_A_ROW = 8, 20
# After so many seconds no other call of a round is begun: a process that was stopped for as long as its lease lasts
# makes no call afterwards that another one has made meanwhile.
TURN_SECONDS = 5.0
# In one job, so that it leaves its process to others.
SEND_SECONDS = 20.0
FORGOTTEN_AT_ONCE, MOST_FORGOTTEN = 1000, 200_000


@dataclass(frozen=True)
class Turn:
    """What one webhook gets in a round, in its order."""

    hook: Webhook
    secrets: tuple[str, ...]
    rows: Sequence[WebhookDelivery]
    until: float


# Send


def send() -> int:
    """Post what is due, for some seconds at most; how many messages are done with. One process at a time."""
    if why_calls_wait():
        return 0
    with lease("webhooks", seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        # Of webhooks that were ended while something was written for them.
        webhook_events.drop(WebhookDelivery.objects.filter(webhook__ended_at__isnull=False))
        end = time.monotonic() + SEND_SECONDS
        rounds = carry_out(
            SideBySide(AT_ONCE),
            held,
            rows=lambda: _turns() if time.monotonic() < end else [],
            call=_call,
            record=_record,
            stop_at=(),
        )
        return sum(rounds)


def is_anything_due() -> bool:
    return not why_calls_wait() and _due_hooks().exists()


def _due_hooks() -> QuerySet[Webhook]:
    waiting = WebhookDelivery.objects.filter(is_due(), webhook=OuterRef("pk"), state=State.WAITING)
    return Webhook.objects.standing().filter(is_due(), Exists(waiting), active=True)


def _turns() -> list[Turn]:
    """Of the webhooks that waited longest. The attempts are counted here, and committed before the first is made.

    The first of each project comes before the second of any: slow receivers of one project hold up its own.
    """
    now = timezone.now()
    longest = (F("tried_at").asc(nulls_first=True), "pk")
    place = Window(RowNumber(), partition_by=F("project"), order_by=longest)
    hooks = _due_hooks().annotate(place=place).order_by("place", *longest)[:AT_ONCE]
    until = time.monotonic() + TURN_SECONDS
    turns = [Turn(hook, _secrets(hook, now), _next(hook), until) for hook in hooks]
    rows = [row for turn in turns for row in turn.rows]
    mark_sent(WebhookDelivery.objects.filter(pk__in=[row.pk for row in rows]), attempts=F("attempts") + 1)
    Webhook.objects.filter(pk__in=[turn.hook.pk for turn in turns]).update(tried_at=now)
    for row in rows:
        row.attempts += 1
    return turns


def _next(hook: Webhook) -> list[WebhookDelivery]:
    return list(hook.deliveries.filter(is_due(), state=State.WAITING).order_by("pk")[:IN_A_ROW])


def _secrets(hook: Webhook, now: datetime) -> tuple[str, ...]:
    earlier = hook.earlier_until is not None and hook.earlier_until > now
    return (hook.secret, hook.earlier_secret) if earlier else (hook.secret,)


def _call(turn: Turn) -> list[Outcome]:
    """One outcome for each message that was tried, until one is answered by nobody. In a thread; touches no table."""
    outcomes: list[Outcome] = []
    for row in turn.rows:
        if time.monotonic() >= turn.until:
            break
        outcomes.append(attempt(turn.hook.address, turn.secrets, row.message_id, row.body, row.attempts))
        if outcomes[-1].silent or outcomes[-1].gone:
            break
    return outcomes


# Write down


def _record(outcomes: Sequence[tuple[Turn, Any]]) -> int:
    return sum(_record_apart(turn, tried) for turn, tried in outcomes)


def _record_apart(turn: Turn, tried: Sequence[Outcome]) -> int:
    """What goes wrong with one webhook is told in the log and leaves the others of the round alone."""
    try:
        return _record_turn(turn, tried)
    except (OperationalError, InterfaceError):
        # The database itself is away: the job ends, and a later one goes on.
        raise
    except Exception:
        log.exception("What the webhook %s answered could not be written down", turn.hook.pk)
        wait = timezone.now() + wait_after(turn.hook.failures + 1)
        Webhook.objects.filter(pk=turn.hook.pk).update(failures=F("failures") + 1, not_before=wait)
        return 0


@transaction.atomic
def _record_turn(turn: Turn, tried: Sequence[Outcome]) -> int:
    """How many messages are done with."""
    now = timezone.now()
    if untried := [row.pk for row in turn.rows[len(tried) :]]:
        left = WebhookDelivery.objects.filter(pk__in=untried, state=State.WAITING)
        left.update(attempts=F("attempts") - 1)
        left.filter(attempts=0).update(attempted_at=None)
    # What somebody else has done with meanwhile stays as it is.
    waiting = standing(WebhookDelivery.objects.filter(state=State.WAITING), [row.pk for row in turn.rows])
    pairs = [(waiting[row.pk], outcome) for row, outcome in zip(turn.rows, tried, strict=False) if row.pk in waiting]
    for row, outcome in pairs:
        _settle(row, outcome, now)
    changed = ["state", "status", "error", "not_before", "done_at"]
    WebhookDelivery.objects.bulk_update([row for row, _ in pairs], changed)
    done = sum(row.state != State.WAITING for row, _ in pairs)
    return done + _note(turn.hook, tried, now)


def _settle(row: WebhookDelivery, outcome: Outcome, now: datetime) -> None:
    row.status, row.error = outcome.status, outcome.error
    if outcome.arrived:
        row.state, row.done_at, row.not_before = State.DELIVERED, now, None
    elif row.since <= now - _life():
        row.state, row.done_at = State.GIVEN_UP, now
    elif not outcome.silent:
        row.not_before = now + wait_after(row.attempts, outcome.at_least)


def _life() -> timedelta:
    return timedelta(hours=settings.WEBHOOK_HOURS)


def _note(hook: Webhook, tried: Sequence[Outcome], now: datetime) -> int:
    """Write down how the webhook itself does; how many messages were given up with it."""
    if not tried:
        return 0
    last, some_arrived = tried[-1], any(outcome.arrived for outcome in tried)
    columns: dict[str, Any] = {"failures": 0, "not_before": None}
    if last.silent:
        failures = 1 if some_arrived else min(hook.failures + 1, 1000)
        columns = {"failures": failures, "not_before": now + wait_after(failures, last.at_least)}
    since = None if last.arrived else now if some_arrived or hook.failing_since is None else hook.failing_since
    # With another address, which it may have got meanwhile, it begins anew.
    mine = Webhook.objects.filter(pk=hook.pk, address=hook.address)
    mine.update(**columns, failing_since=since, error=last.error)
    if last.gone and mine.filter(active=True).update(active=False):
        record(hook.project, None, "switched off a webhook", detail={"webhook": hook.host})
    return _give_up_what_is_old(hook, last, now) if last.silent else 0


def _give_up_what_is_old(hook: Webhook, last: Outcome, now: datetime) -> int:
    """With a receiver that does not answer: each of them would wait for an attempt of its own."""
    old = hook.deliveries.filter(state=State.WAITING, since__lte=now - _life())
    return old.update(state=State.GIVEN_UP, done_at=now, error=last.error)


# Forget


def forget() -> int:
    """Delete messages that were done with so many days ago, and webhooks that ended before; how many rows went."""
    then = timezone.now() - timedelta(days=settings.WEBHOOK_KEPT_DAYS)
    old = WebhookDelivery.objects.exclude(state=State.WAITING).filter(done_at__lte=then)
    gone = 0
    while gone < MOST_FORGOTTEN and (pks := list(old.values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE])):
        gone += _deleted(WebhookDelivery.objects.filter(pk__in=pks))
    ended = Webhook.objects.filter(ended_at__lte=then, deliveries=None)
    return gone + _deleted(Webhook.objects.filter(pk__in=list(ended.values_list("pk", flat=True))))


def _deleted(rows: QuerySet[Any]) -> int:
    return rows.delete()[0]
