"""Webhooks are sent what was written down for them: each message until it arrives, in their order, at least once.

The number of an attempt is committed before it is made. So a message whose outcome a crash has lost is sent again with
a larger one, and from 2 on its receiver knows that it may have come before. While a receiver does not answer, all that
is for it waits; what it answers with an error waits alone, and the rest goes on. No webhook waits for another one for
longer than a few calls take.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from celery import shared_task
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from common import outgoing
from common.addresses import AddressError
from hits.core.action_log import record
from hits.core.jobs import queue
from hits.core.jobs.leases import lease
from hits.core.jobs.outbox import Result, Row, carry_out, is_due, mark_sent, standing
from hits.mturk.errors import MarketplaceError
from hits.publishing.rules.restorations import why_calls_wait
from hits.webhooks import rules
from hits.webhooks.models import LONGEST_ERROR, Webhook, WebhookDelivery

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
GONE = 410
# Said by a proxy whose receiver is away, or by one that wants to be left alone for a while.
NOT_NOW = (429, 502, 503, 504)
LONGEST_WAIT = timedelta(hours=1)
# How long a message is tried for: a receiver that broke on a Friday evening is repaired by then. And how long it is
# kept when it is done with, for whoever looks for what went wrong.
LIFE, KEPT = timedelta(hours=72), timedelta(days=30)
BEAT_SECONDS = 5.0


@dataclass(frozen=True)
class Turn:
    """What one webhook gets in a round, in its order."""

    hook: Webhook
    secrets: tuple[str, ...]
    rows: Sequence[WebhookDelivery]
    until: float


# Call


@dataclass(frozen=True)
class Outcome:
    """`error` is empty where the message arrived. `silent`: it says nothing of this message, the others wait too.

    `at_least` is how long the receiver asked to be left alone.
    """

    status: int | None = None
    error: str = ""
    silent: bool = False
    at_least: timedelta = timedelta()

    @property
    def arrived(self) -> bool:
        return not self.error

    @property
    def gone(self) -> bool:
        """The receiver wants nothing any more."""
        return self.status == GONE


def attempt(address: str, secrets: Sequence[str], message_id: str, body: str, number: int) -> Outcome:
    """Post it; the `number` of the attempt counts from 1. Never raises."""
    headers = rules.headers(secrets, message_id, int(time.time()), body, number)
    seconds = settings.WEBHOOK_TIMEOUT_SECONDS
    try:
        rules.refuse(address)
        limits = {"total_seconds": seconds, "read_seconds": seconds}
        answer = outgoing.post(address, body.encode(), headers, rules.reach(), **limits)
    except (AddressError, outgoing.NoAnswerError) as error:
        return Outcome(error=_shown(str(error)), silent=True)
    except Exception as error:
        # One message that trips over a mistake of ours must not stop all the others.
        log.exception("The message %s could not be posted", message_id)
        return Outcome(error=f"{type(error).__name__} while posting: the log of the installation says more.")
    return _outcome(answer)


def _shown(error: str) -> str:
    """Of a receiver's own bytes only what can be shown: they may stand in the error, and PostgreSQL takes no NUL."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in error)[:LONGEST_ERROR]


def _outcome(answer: outgoing.Answer) -> Outcome:
    status = answer.status
    if 200 <= status <= 299:
        return Outcome(status)
    why = " Redirects are not followed." if 300 <= status <= 399 else ""
    return Outcome(status, f"The receiver answered {status}.{why}", status in NOT_NOW, _seconds(answer.retry_after))


def _seconds(text: str) -> timedelta:
    """Of a header Retry-After; a date, or what cannot be read, is as none."""
    known = text.isascii() and text.isdigit() and len(text) <= 6
    return min(timedelta(seconds=int(text)), LONGEST_WAIT) if known else timedelta()


def wait_after(failures: int, at_least: timedelta = timedelta()) -> timedelta:
    """How long to wait after so many attempts in vain: twice as long each time, up to an hour."""
    usual = settings.WEBHOOK_RETRY_SECONDS * 2 ** min(failures - 1, 12)
    return max(min(timedelta(seconds=usual), LONGEST_WAIT), at_least)


class SideBySide:
    """Makes calls side by side, at most `at_once`. A runner of `hits.core.jobs.outbox.carry_out`."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once

    def run(
        self, work: Callable[[Row], Result], rows: Sequence[Row], *, beat: Callable[[], object] | None = None
    ) -> list[tuple[Row, Result | MarketplaceError]]:
        with ThreadPoolExecutor(min(self._at_once, max(1, len(rows)))) as pool:
            futures = [pool.submit(work, row) for row in rows]
            while wait(futures, timeout=BEAT_SECONDS).not_done:
                if beat:
                    beat()
        return [(row, future.result()) for row, future in zip(rows, futures, strict=True)]


# Send


def send() -> int:
    """Post what is due, for some seconds at most; how many messages are done with. One process at a time."""
    if why_calls_wait():
        return 0
    with lease("webhooks", seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        # Of webhooks that were ended while something was written for them.
        WebhookDelivery.objects.filter(webhook__ended_at__isnull=False).drop()
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


def announce() -> None:
    """Have what is written down sent. While every worker is busy, one such job is enough."""
    if is_anything_due():
        queue.offer(send_webhooks, expires=60)


@shared_task(name="hits.tasks.send_webhooks")
def send_webhooks() -> int:
    """What no receiver takes now waits in its row, and `resume_all` comes back to it."""
    done = send()
    # A job lasts some seconds at most; what is left is for another one.
    if done:
        announce()
    return done


def _due_hooks() -> QuerySet[Webhook]:
    waiting = WebhookDelivery.objects.filter(is_due(), webhook=OuterRef("pk"), state=State.WAITING)
    return Webhook.objects.not_ended().filter(is_due(), Exists(waiting), active=True)


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
    elif row.since <= now - LIFE:
        row.state, row.done_at = State.GIVEN_UP, now
    elif not outcome.silent:
        row.not_before = now + wait_after(row.attempts, outcome.at_least)


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
    if not last.silent:
        return 0
    # Each of them would wait for an attempt of its own.
    old = hook.deliveries.filter(state=State.WAITING, since__lte=now - LIFE)
    return old.update(state=State.GIVEN_UP, done_at=now, error=last.error)


# Forget


def forget() -> int:
    """Delete messages that were done with so long ago, and webhooks that ended before; how many rows went."""
    then = timezone.now() - KEPT
    old = WebhookDelivery.objects.exclude(state=State.WAITING).filter(done_at__lte=then)
    gone = 0
    while gone < MOST_FORGOTTEN and (pks := list(old.values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE])):
        gone += _deleted(WebhookDelivery.objects.filter(pk__in=pks))
    ended = Webhook.objects.filter(ended_at__lte=then, deliveries=None)
    return gone + _deleted(Webhook.objects.filter(pk__in=list(ended.values_list("pk", flat=True))))


def _deleted(rows: QuerySet[Any]) -> int:
    return rows.delete()[0]
