"""What is kept about one worker in all projects: all of it to hand over, and an end of what the worker told about
themselves.

Answers, labels, judgements, money and which terms were agreed to stay under the worker id, which tells nobody who the
person is; the marketplace keeps the account, and has an export and a deletion of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import models, transaction

from hits.answers.rules import text_evidence
from hits.answers.rules.item_answers import without
from hits.core.action_log import record
from hits.models import (
    Assignment,
    Compensation,
    Draft,
    Grant,
    InboxEntry,
    Pool,
    Project,
    QualificationScore,
    TextEvidence,
    Webhook,
    WebhookDelivery,
    Worker,
    WorkerMessage,
)
from hits.protocols.choosing import COMMENT
from hits.refusals import Refused
from hits.workers.rules import grant_rows

DELETED = "(deleted)"
CHUNK = 500

# Names in the export, and the columns that they come from.
_ANSWER = {
    "project": "stage__project__slug", "stage": "stage__key", "hit": "hit__hit_id", "assignment": "assignment_id",
    "state": "state", "accepted_at": "accepted_at", "submitted_at": "submitted_at", "seconds": "seconds",
    "answer": "answer", "terms_version": "terms__version", "remark": "remark", "feedback": "feedback",
    "why_invalid": "problem",
}  # fmt: skip
_FIGURES = {
    "project": "stage__project__slug", "stage": "stage__key", "answers": "answers", "approved": "approved",
    "rejected": "rejected", "compared_with_gold": "scored", "right": "correct", "median_seconds": "median_seconds",
    "earned": "earned", "what_stands_out": "why",
}  # fmt: skip
_BLOCK = {
    "project": "project__slug", "stage": "stage__key", "state": "state", "evidence": "evidence",
    "made_at": "created_at", "until": "until", "undone_at": "undone_at",
}  # fmt: skip
_GRANT = {"project": "project__slug", "qualification": "key", "state": "state"}
_IN_POOL = {"project": "project__slug", "pool": "pool", "state": "state", "since": "created_at"}
_BONUS = {"project": "project__slug", "amount": "amount", "state": "state"}
_COMPENSATION = {"project": "project__slug", "amount": "amount", "reason": "reason", "state": "state"}
_MESSAGE = {
    "project": "project__slug", "stage": "stage__key", "subject": "subject", "text": "text", "state": "state",
    "sent_at": "sent_at",
}  # fmt: skip
_REPLY = {"project": "project__slug", "to": "message__subject", "text": "text", "written_at": "at"}
_TOLD_TO_WEBHOOK = {
    "project": "webhook__project__slug", "message": "message_id", "when": "created_at", "event": "event",
    "state": "state",
}  # fmt: skip
_SCORE = {"project": "test__project__slug", "test": "test__key", "value": "value", "granted_at": "granted_at"}
_TEXT_EVIDENCE = {
    "project": "stage__project__slug", "stage": "stage__key", "assignment": "assignment__assignment_id",
    "noted": "noted", "counts": "counts", "characters": "characters", "words": "words", "copied": "copied",
    "stock_phrases": "phrases", "sentences": "sentences", "shared_wording": "near_share",
    "signs": "assignment__signs",
}  # fmt: skip
_DRAFT = {"hit": "hit__hit_id", "assignment": "assignment_id", "fields": "fields", "saved_at": "saved_at"}
# Of a grant, the pool that it is of.
_POOLS = Pool.objects.filter(project=models.OuterRef("project"), key=models.OuterRef("key"))
_POOL_NAME = models.Subquery(_POOLS.values("name")[:1])


@dataclass(frozen=True)
class Erasable:
    """How many drafts, comments beside answers, messages with a text, replies to them, answers of which it is known how
    their texts came about, and pools that the worker is in there are.
    """

    drafts: int
    comments: int
    messages: int
    replies: int
    text_evidence: int
    pools: int


def find(worker_id: str) -> Worker:
    """Raises Refused (no_worker)."""
    worker = Worker.objects.filter(worker_id=worker_id).first()
    if worker is None:
        raise Refused(
            "no_worker", f"No worker {worker_id} has an answer, a block, a grant or a payment here.", status=404
        )
    return worker


def export(worker: Worker) -> dict[str, Any]:
    """Everything that is kept about a worker: text, numbers, times and dollars."""
    own = {"worker_id": worker.worker_id}
    return {
        **own,
        "answers": _rows(worker.assignments, _ANSWER),
        "figures": _rows(worker.stats, _FIGURES),
        "blocks": _rows(worker.blocks, _BLOCK),
        "qualifications": _rows(worker.grants, _GRANT),
        "pools": _rows(_in_pools(worker).annotate(pool=_POOL_NAME), _IN_POOL),
        "test_results": _rows(QualificationScore.objects.filter(**own), _SCORE),
        "bonuses": _rows(worker.bonuses, _BONUS),
        "compensations": _rows(Compensation.objects.filter(**own), _COMPENSATION),
        "messages": _rows(worker.messages, _MESSAGE),
        "replies": _rows(worker.inbox.exclude(message=None), _REPLY),
        "webhook_messages": _rows(_told_to_webhooks(worker), _TOLD_TO_WEBHOOK),
        "text_evidence": _rows(worker.text_evidence, _TEXT_EVIDENCE),
        "drafts": _rows(Draft.objects.filter(**own), _DRAFT),
    }


def _rows(rows: models.Manager[Any] | models.QuerySet[Any], columns: Mapping[str, str]) -> list[dict[str, Any]]:
    found = rows.order_by("pk").values_list(*columns.values())
    return [dict(zip(columns, row, strict=True)) for row in found]


def erasable(worker: Worker) -> Erasable:
    """What `erase` would delete now."""
    told = (_drafts(worker), _with_comment(worker), _told(worker), _replies(worker), worker.text_evidence)
    return Erasable(*(rows.count() for rows in (*told, _leaving(worker))))


@transaction.atomic
def erase(worker: Worker) -> Erasable:
    """Delete it for good. A message that waits to be sent is not sent any more, and the worker leaves all pools: the
    marketplace is told of that next. The log of each project in which the worker answered says that it was done.
    """
    comments = _erase_comments(worker)
    messages = _told(worker).filter(state=WorkerMessage.State.PLANNED).delete()[0]
    messages += _told(worker).update(subject=DELETED, text=DELETED)
    replies = _replies(worker).update(text=DELETED)
    drafts = _drafts(worker).delete()[0]
    evidence = text_evidence.forget(TextEvidence.objects.filter(worker=worker))
    left = sum(grant_rows.intend_withdrawal(row) for row in _leaving(worker))
    for project in Project.objects.filter(stages__assignments__worker=worker).distinct().order_by("pk"):
        record(project, None, "deleted what a worker told", detail={"worker": worker.worker_id})
    return Erasable(drafts, comments, messages, replies, evidence, left)


def _drafts(worker: Worker) -> models.QuerySet[Draft]:
    return Draft.objects.filter(worker_id=worker.worker_id)


def _in_pools(worker: Worker) -> models.QuerySet[Grant]:
    return worker.grants.filter(models.Exists(_POOLS))


def _leaving(worker: Worker) -> models.QuerySet[Grant]:
    return _in_pools(worker).filter(state__in=[Grant.State.INTENDED, Grant.State.GRANTED])


def _told(worker: Worker) -> models.QuerySet[WorkerMessage]:
    return worker.messages.exclude(text=DELETED)


def _replies(worker: Worker) -> models.QuerySet[InboxEntry]:
    return worker.inbox.exclude(message=None).exclude(text=DELETED)


def _told_to_webhooks(worker: Worker) -> models.QuerySet[WebhookDelivery]:
    """Messages to webhooks that name the worker: those of the projects that blocked them."""
    return WebhookDelivery.objects.filter(
        webhook__project__in=worker.blocks.values("project"),
        event=Webhook.Event.WORKER_BLOCKED,
        body__contains=f'"worker":{json.dumps(worker.worker_id)},',
    )


def _with_comment(worker: Worker) -> models.QuerySet[Assignment]:
    return worker.assignments.exclude(remark="")


def _erase_comments(worker: Worker) -> int:
    """The comment also as it was posted: the remark would be read from it again."""
    last, changed = 0, 0
    rows = _with_comment(worker).select_for_update().only("answer", "remark").order_by("pk")
    while some := list(rows.filter(pk__gt=last)[:CHUNK]):
        last = some[-1].pk
        for row in some:
            row.answer, row.remark = without(row.answer, COMMENT), ""
        changed += Assignment.objects.bulk_update(some, ["answer", "remark"])
        worker.inbox.filter(assignment__in=some).delete()
    return changed
