"""Rows that should have come to their next step a while ago, by kind: for whoever watches the installation.

`hits.notifications.jobs.needs` tells leads of their own. Each kind costs one query that looks at rows under way, not at
all there are.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from hits.models import (
    Assignment,
    Batch,
    Block,
    Bonus,
    BonusFile,
    Compensation,
    ComputationRun,
    Extension,
    Grant,
    Hit,
    Item,
    LedgerCheck,
    Upload,
    WaitingJob,
    WebhookDelivery,
    WorkerMessage,
)

# What is repeated every few seconds has been tried many times by then.
STUCK_AFTER = timedelta(minutes=15)
MOST_COUNTED = 10_000
_SENDING = [Batch.State.PUBLISHING, Batch.State.WAITING]
Rows = Callable[[datetime], QuerySet[Any]]


def _tried_before(moment: datetime) -> Q:
    """Of a call with a token: its first attempt was before, and has no outcome."""
    return Q(attempted_at__lt=moment)


KINDS: dict[str, Rows] = {
    "hits": lambda then: Hit.objects.filter(_tried_before(then), state=Hit.State.SENT, batch__state__in=_SENDING),
    "extensions": lambda then: Extension.objects.filter(
        _tried_before(then), state=Extension.State.PLANNED, batch__state__in=_SENDING
    ),
    "bonuses": lambda then: Bonus.objects.filter(
        _tried_before(then), state__in=[Bonus.State.PLANNED, Bonus.State.SENT]
    ),
    "compensations": lambda then: Compensation.objects.filter(_tried_before(then), state=Compensation.State.PLANNED),
    "messages": lambda then: WorkerMessage.objects.filter(state=WorkerMessage.State.PLANNED, created_at__lt=then),
    "blocks": lambda then: Block.objects.filter(
        state__in=[Block.State.INTENDED, Block.State.LIFTING], created_at__lt=then
    ),
    "grants": lambda then: Grant.objects.filter(
        state__in=[Grant.State.INTENDED, Grant.State.WITHDRAWING], created_at__lt=then
    ),
    "answers to score": lambda then: Assignment.objects.filter(scored=False, submitted_at__lt=then),
    "decisions": lambda then: Assignment.objects.filter(
        ~Q(decision=""),
        Q(not_before__lt=then) | Q(not_before=None, submitted_at__lt=then),
        state=Assignment.State.SUBMITTED,
    ),
    "items to decide": lambda then: Item.objects.filter(stale=True, ballots_at__lt=then),
    "batches": lambda then: Batch.objects.filter(state=Batch.State.WAITING, created_at__lt=then),
    "imports": lambda then: Upload.objects.filter(state=Upload.State.QUEUED, created_at__lt=then),
    "files of bonuses": lambda then: BonusFile.objects.filter(state=BonusFile.State.QUEUED, created_at__lt=then),
    "computations": lambda then: ComputationRun.objects.filter(state=ComputationRun.State.QUEUED, created_at__lt=then),
    "comparisons of the books": lambda then: LedgerCheck.objects.filter(
        state=LedgerCheck.State.RUNNING, created_at__lt=then
    ),
    "messages to webhooks": lambda then: WebhookDelivery.objects.filter(
        state=WebhookDelivery.State.WAITING, since__lt=then, webhook__active=True
    ),
    "jobs without a queue": lambda then: WaitingJob.objects.filter(created_at__lt=then),
}


def counts() -> dict[str, int]:
    """Kind to how many, up to MOST_COUNTED."""
    then = timezone.now() - STUCK_AFTER
    return {kind: rows(then).order_by()[:MOST_COUNTED].count() for kind, rows in KINDS.items()}
