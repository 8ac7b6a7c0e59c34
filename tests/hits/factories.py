"""Rows for tests, straight into the tables: `hit(item(stage(project())))`.

Every function makes what it is not given, takes any column as a keyword and returns the row. Names count up,
so that two calls never collide. Nothing here calls a verb or the network.
"""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth import get_user_model
from django.db import models
from django.utils import timezone

from hits.accounts.models import token_digest
from hits.models import (
    Account,
    Assignment,
    Batch,
    Blob,
    Block,
    Bonus,
    BonusFile,
    BonusOrder,
    BudgetRequest,
    Compensation,
    ComputationRun,
    Document,
    Grant,
    Hit,
    HitItem,
    InboxEntry,
    Invitation,
    Item,
    Label,
    LedgerCheck,
    LedgerEntry,
    MediaFile,
    Membership,
    MessageTemplate,
    Notice,
    Pool,
    PoolLink,
    Project,
    QualificationTest,
    Release,
    ReleaseFile,
    Routing,
    Stage,
    StageSummary,
    Terms,
    Upload,
    Verdict,
    Webhook,
    WebhookDelivery,
    Worker,
    WorkerMessage,
    WorkerStat,
)
from hits.payments.rules.ledger import reserve_payment
from hits.payments.rules.ledger_differences import Difference
from hits.stats.blocking import Evidence
from hits.stats.intervals import wilson
from tests.hits import samples_of_media

_numbers = itertools.count(1)
PASSAGE = (
    "Mara Okafor reopened the old ferry station in Linden on Monday. The mayor, Tomas Reyes, had promised it twice.\n"
    "@highlight\nLinden has a ferry again"
)
MENTIONS = [[0, 10], [46, 51], [75, 85], [122, 127]]
NOON = datetime(2026, 11, 19, 12, 0, tzinfo=UTC)


def user(name: str | None = None, password: str | None = None, **columns: Any) -> Any:
    """A lead. Without a password nobody signs in by hand: use `client.force_login`."""
    return get_user_model().objects.create_user(name or f"user{next(_numbers)}", password=password, **columns)


def project(*, owner: Any = None, budget: Decimal | str = "100.00", **columns: Any) -> Project:
    """A project with its account; `owner` is one user or a list of them."""
    number = next(_numbers)
    defaults = {
        "name": f"River news {number}",
        "slug": f"river-news-{number}",
        "recipe": "record",
        "namespace": f"{number:016x}",
        "seed": 7,
        "contact_email": "lab@example.org",
    }
    row = Project.objects.create(**{**defaults, **columns})
    for person in owner if isinstance(owner, list) else [owner] if owner else []:
        member(row, person)
    Account.objects.create(project=row, budget=Decimal(budget))
    return row


def member(project_row: Project, person: Any, role: str = Membership.Role.OWNER) -> Membership:
    return Membership.objects.create(project=project_row, user=person, role=role)


def message(stage_row: Stage | None = None, worker_row: Worker | None = None, **columns: Any) -> WorkerMessage:
    """One that was sent."""
    stage_row = stage_row or stage()
    defaults = {
        "subject": "Your answers",
        "text": "Look again.",
        "state": WorkerMessage.State.SENT,
        "confirmation": f"page-{next(_numbers)}",
        "sent_at": timezone.now(),
    }
    return WorkerMessage.objects.create(
        project=stage_row.project, stage=stage_row, worker=worker_row or worker(), **{**defaults, **columns}
    )


def message_template(project_row: Project | None = None, **columns: Any) -> MessageTemplate:
    defaults = {"name": f"Template {next(_numbers)}", "subject": "New in {stage}", "text": "Hello {worker}."}
    return MessageTemplate.objects.create(
        project=project_row or project(), changed_at=timezone.now(), **{**defaults, **columns}
    )


def reply(message_row: WorkerMessage | None = None, **columns: Any) -> InboxEntry:
    """An open one, to this message."""
    row = message_row or message()
    return InboxEntry.objects.create(
        project=row.project, stage=row.stage, worker=row.worker, message=row, **{"text": "Why?", **columns}
    )


def terms(project_row: Project | None = None, **columns: Any) -> Terms:
    """A version of the terms that has stood for an hour, the next one of the project."""
    project_row = project_row or project()
    made_at = columns.setdefault("made_at", timezone.now() - timedelta(hours=1))
    project_row.terms.standing().update(ended_at=made_at)
    defaults = {"version": project_row.terms.count() + 1, "text": "Answers are **published**."}
    return Terms.objects.create(project=project_row, **{**defaults, **columns})


def invitation(project_row: Project, token: str = "", **columns: Any) -> Invitation:
    """One that waits; `token` is the last part of its link."""
    defaults = {"role": Membership.Role.READER, "expires_at": timezone.now() + timedelta(days=7)}
    digest = token_digest(token or f"token {next(_numbers)}")
    return Invitation.objects.create(project=project_row, digest=digest, **{**defaults, **columns})


def stage(project_row: Project | None = None, *, summary: dict[str, Any] | None = None, **columns: Any) -> Stage:
    """A clickable-entity stage with one answer an item; `summary` holds the figures of its StageSummary."""
    project_row = project_row or project()
    number = next(_numbers)
    defaults = {
        "key": f"validate-{number}",
        "title": "Validate",
        "position": project_row.stages.count() + 1,
        "protocol": "clickable_entity",
        "reward": Decimal("0.04"),
        "hit_title": "Click the entity that fits",
        "hit_description": "Read a short news text and click the name that fills the blank.",
        "keywords": "reading, news",
        "rule": {"name": "matches_reference", "version": 1, "params": {"answers": 1, "need": 1}},
        "quality": {},
    }
    row = Stage.objects.create(project=project_row, **{**defaults, **columns})
    StageSummary.objects.create(stage=row, **(summary or {}))
    return row


def document(project_row: Project | None = None, **columns: Any) -> Document:
    number = next(_numbers)
    defaults = {
        "key": f"doc-{number}",
        "origin": "public",
        "purpose": "train",
        "data": {"text": PASSAGE, "entities": MENTIONS, "source": "Our own sample", "key_field": "id"},
    }
    return Document.objects.create(project=project_row or project(), **{**defaults, **columns})


def item(stage_row: Stage | None = None, **columns: Any) -> Item:
    """A cloze item that Linden answers."""
    stage_row = stage_row or stage()
    columns.setdefault("document", None)
    columns["document"] = columns["document"] or document(stage_row.project)
    key = columns.setdefault("key", f"item-{next(_numbers)}")
    defaults = {
        "data": {
            "key": key,
            "key_field": "id",
            "query": "People in @placeholder can cross the river by boat once more.",
            "answers": [{"start": 46, "end": 51, "text": "Linden"}, {"start": 122, "end": 127, "text": "Linden"}],
        },
    }
    return Item.objects.create(stage=stage_row, **{**defaults, **columns})


def items(stage_row: Stage, count: int, **columns: Any) -> list[Item]:
    """Many items of one document, in one statement."""
    text = columns.pop("document", None) or document(stage_row.project)
    first = next(_numbers)
    data = {"query": "A boat lands in @placeholder.", "answers": [{"start": 46, "end": 51, "text": "Linden"}]}
    keys = [f"many-{first}-{number}" for number in range(count)]
    rows = [
        Item(
            stage=stage_row,
            document=text,
            **{"key": key, "data": {**data, "key": key, "key_field": "id"}, **columns},
        )
        for key in keys
    ]
    return Item.objects.bulk_create(rows)


def batch(stage_row: Stage | None = None, **columns: Any) -> Batch:
    defaults: dict[str, Any] = {"total": 1, "done": 1, "state": Batch.State.PUBLISHED}
    return Batch.objects.create(stage=stage_row or stage(), **{**defaults, **columns})


def hit(item_row: Item | None = None, **columns: Any) -> Hit:
    """A live HIT for one answer, in a batch of its own unless one is given."""
    return Hit.objects.create(**_hit_columns(item_row or item(), columns))


def hit_about(item_rows: list[Item], **columns: Any) -> Hit:
    """One live HIT about all of these items."""
    made = hit(item_rows[0], item_count=len(item_rows), **columns)
    HitItem.objects.bulk_create(
        HitItem(hit=made, item=row, number=number) for number, row in enumerate(item_rows[1:], 2)
    )
    return made


def hits(item_rows: list[Item], **columns: Any) -> list[Hit]:
    """One live HIT an item, all in one batch."""
    columns.setdefault("batch", None)
    columns["batch"] = columns["batch"] or batch(item_rows[0].stage, total=len(item_rows), done=len(item_rows))
    return Hit.objects.bulk_create([Hit(**_hit_columns(row, columns)) for row in item_rows])


def _hit_columns(item_row: Item, columns: dict[str, Any]) -> dict[str, Any]:
    number = next(_numbers)
    defaults: dict[str, Any] = {
        "item": item_row,
        "stage": item_row.stage,
        "token": f"token-{number}",
        "state": Hit.State.LIVE,
        "hit_id": f"3HIT{number:012d}",
        "max_assignments": item_row.stage.answers,
        "created_with": item_row.stage.answers,
        "reward": item_row.stage.reward,
        "unit_cost": Decimal("0.05"),
        "assignment_seconds": item_row.stage.assignment_seconds,
        "expires_at": timezone.now() + timedelta(days=3),
    }
    if not columns.get("batch"):
        columns = {**columns, "batch": batch(item_row.stage)}
    return {**defaults, **columns}


def worker(worker_id: str | None = None) -> Worker:
    return Worker.objects.create(worker_id=worker_id or f"AWORKER{next(_numbers):07d}")


def assignment(hit_row: Hit | None = None, worker_row: Worker | None = None, **columns: Any) -> Assignment:
    """An approved answer that names Linden, 38 seconds of work."""
    return Assignment.objects.create(**_assignment_columns(hit_row or hit(), worker_row or worker(), columns))


def assignments(hit_rows: list[Hit], worker_row: Worker, **columns: Any) -> list[Assignment]:
    """One answer by the same worker on every HIT."""
    return Assignment.objects.bulk_create(
        [Assignment(**_assignment_columns(row, worker_row, columns)) for row in hit_rows]
    )


def _assignment_columns(hit_row: Hit, worker_row: Worker, columns: dict[str, Any]) -> dict[str, Any]:
    defaults = {
        "hit": hit_row,
        "stage": hit_row.stage,
        "worker": worker_row,
        "assignment_id": f"3ASG{next(_numbers):012d}",
        "state": Assignment.State.APPROVED,
        "accepted_at": NOON,
        "submitted_at": NOON + timedelta(seconds=38),
        "seconds": 38.0,
        "answer": {"answer": "46-51", "text": "Linden"},
        "scored": True,
    }
    return {**defaults, **columns}


def label(assignment_row: Assignment | None = None, **columns: Any) -> Label:
    """What the answer says about its item; correct unless said otherwise."""
    assignment_row = assignment_row or assignment()
    defaults = {
        "item": assignment_row.hit.item,
        "unit": "entity",
        "value": {"start": 46, "end": 51, "text": "Linden"},
        "correct": True,
    }
    return Label.objects.create(
        assignment=assignment_row,
        stage=assignment_row.stage,
        worker=assignment_row.worker,
        **{**defaults, **columns},
    )


def verdict(item_row: Item | None = None, **columns: Any) -> Verdict:
    defaults = {"outcome": "kept", "rule": "matches_reference", "rule_version": 1}
    return Verdict.objects.create(item=item_row or item(), **{**defaults, **columns})


def worker_stat(stage_row: Stage | None = None, worker_row: Worker | None = None, **columns: Any) -> WorkerStat:
    defaults = {"answers": 40, "scored": 40, "correct": 22, "median_seconds": 38.0, "earned": Decimal("1.60")}
    return WorkerStat.objects.create(
        stage=stage_row or stage(), worker=worker_row or worker(), **{**defaults, **columns}
    )


def block(stage_row: Stage | None = None, worker_row: Worker | None = None, **columns: Any) -> Block:
    stage_row, worker_row = stage_row or stage(), worker_row or worker()
    defaults = {
        "project": stage_row.project,
        "state": Block.State.GRANTED,
        "evidence": _evidence(worker_row),
    }
    return Block.objects.create(stage=stage_row, worker=worker_row, **{**defaults, **columns})


def grant(project_row: Project | None = None, worker_row: Worker | None = None, **columns: Any) -> Grant:
    """A qualification that a lead gave to a worker."""
    defaults = {"key": "part-one", "state": Grant.State.GRANTED}
    row = worker_row or worker()
    return Grant.objects.create(project=project_row or project(), worker=row, **{**defaults, **columns})


def pool(project_row: Project | None = None, *workers: Worker, **columns: Any) -> Pool:
    """A pool with these workers in it, and a link that lets two people in."""
    number = next(_numbers)
    home = project_row or project()
    defaults = {"key": f"pool-students-{number}", "name": f"Students {number}"}
    row = Pool.objects.create(project=home, **{**defaults, **columns})
    for one in workers:
        grant(home, one, key=row.key)
    pool_link(row)
    return row


def pool_link(pool_row: Pool, token: str = "", **columns: Any) -> PoolLink:
    """One that is open; `token` is the last part of its address."""
    number = next(_numbers)
    defaults = {
        "number": pool_row.links.count() + 2,
        "name": f"{number:032x}",
        "qualification_type_id": "3NOSUCHTYPE",
        "uses": 2,
        "expires_at": timezone.now() + timedelta(days=14),
    }
    digest = token_digest(token or f"pool token {number}")
    return PoolLink.objects.create(pool=pool_row, digest=digest, **{**defaults, **columns})


def _evidence(worker_row: Worker) -> dict[str, Any]:
    found = Evidence(
        worker=worker_row.worker_id,
        scored=40,
        correct=2,
        accuracy=0.05,
        average=0.5,
        p_value=7.5e-10,
        floor=0.2,
        alpha=0.01,
        interval=wilson(2, 40),
    )
    return found.to_dict()


def ledger_entry(stage_row: Stage | None = None, **columns: Any) -> LedgerEntry:
    """One entry, posted through the account so that the sums stay true."""
    stage_row = stage_row or stage()
    entry = LedgerEntry(stage=stage_row, **{"kind": LedgerEntry.Kind.RESERVE, "reserved": Decimal("1.00"), **columns})
    stage_row.project.account.post([entry])
    return stage_row.project.ledger.first()


def ledger_check(project_row: Project | None = None, **columns: Any) -> LedgerCheck:
    """A comparison that is done, with one difference that stays and one that passes."""
    second = Difference("second_hit", "HIT 3SECOND", "3FIRST", "3SECOND")
    coming = Difference("answers_coming", "HIT 3FIRST", "0 answers", "1 answers")
    defaults: dict[str, Any] = {
        "state": LedgerCheck.State.DONE,
        "figures": [["Reserved: the account, its entries", "5.00", "5.00"]],
        "differences": [second.as_row(), coming.as_row()],
        "finished_at": timezone.now(),
    }
    return LedgerCheck.objects.create(project=project_row or project(), **{**defaults, **columns})


def bonus(assignment_row: Assignment | None = None, **columns: Any) -> Bonus:
    """A bonus of an order of its own, its money reserved."""
    answer = assignment_row or assignment()
    defaults = {"amount": Decimal("0.50"), "fee": Decimal("0.10"), "reason": "Well done."}
    cost = {**defaults, **columns}
    project_row = answer.stage.project
    order = BonusOrder.objects.create(
        project=project_row, confirmation=f"page-{next(_numbers)}", total=1, cost=cost["amount"] + cost["fee"]
    )
    row = Bonus.objects.create(project=project_row, order=order, assignment=answer, worker=answer.worker, **cost)
    project_row.account.post([reserve_payment(row)])
    return row


def compensation(project_row: Project | None = None, **columns: Any) -> Compensation:
    """Ordered and not offered yet, its money reserved."""
    project_row = project_row or project()
    number = next(_numbers)
    defaults = {
        "worker_id": f"AUNLUCKY{number:06d}",
        "amount": Decimal("1.25"),
        "fee": Decimal("0.25"),
        "reason": "The page broke.",
        "confirmation": f"page-{number}",
    }
    row = Compensation.objects.create(project=project_row, **{**defaults, **columns})
    project_row.account.post([reserve_payment(row)])
    return row


def routing(stage_row: Stage, **columns: Any) -> Routing:
    """One by which models decided ten items, none of which is there any more."""
    defaults = {"least": 1, "confidence": 0.9, "audit_share": 0.1, "seed": "7", "decided": 10, "audited": 1}
    return Routing.objects.create(stage=stage_row, **{**defaults, "saved": Decimal("1.50"), **columns})


def budget_request(project_row: Project | None = None, **columns: Any) -> BudgetRequest:
    """One that its asker withdrew, so that it waits for nobody."""
    number = next(_numbers)
    defaults: dict[str, Any] = {"budget": Decimal("200.00"), "confirmation": f"request-{number}", "told": True}
    defaults |= {"state": BudgetRequest.State.WITHDRAWN, "decided_at": timezone.now()}
    return BudgetRequest.objects.create(project=project_row or project(), **{**defaults, **columns})


def upload(project_row: Project | None = None, *, content: bytes = b"{}", **columns: Any) -> Upload:
    defaults = {"name": "articles.json", "origin": "public", "state": Upload.State.DONE, "done": 1, "total": 1}
    return Upload.objects.create(project=project_row or project(), blob=Blob.store(content), **{**defaults, **columns})


def media_file(project_row: Project | None = None, content: bytes = b"", **columns: Any) -> MediaFile:
    """A picture of four by three pixels."""
    blob = Blob.store(content or samples_of_media.png())
    defaults = {"name": "images/cat.png", "base": "cat.png", "content_type": "image/png", "width": 4, "height": 3}
    return MediaFile.objects.create(project=project_row or project(), blob=blob, **{**defaults, **columns})


def bonus_file(project_row: Project | None = None, content: bytes = b"", **columns: Any) -> BonusFile:
    """A large file of bonuses that waits to be checked."""
    return BonusFile.objects.create(
        project=project_row or project(), blob=Blob.store(content), **{"name": "bonuses.csv", **columns}
    )


def computation_run(project_row: Project | None = None, **columns: Any) -> ComputationRun:
    """A run that is done, with a log of two steps; its results are whoever's who makes them."""
    log = [{"step": 1, "loss": 0.62, "kept": "a <b>"}, {"step": 2, "loss": 0.41, "kept": "c"}]
    defaults = {"key": "words", "seed": 7, "state": ComputationRun.State.DONE, "done": 2, "total": 2, "log": log}
    return ComputationRun.objects.create(project=project_row or project(), **{**defaults, **columns})


def release(project_row: Project | None = None, *, files: dict[str, bytes] | None = None, **columns: Any) -> Release:
    """A release with its files: name to content."""
    project_row = project_row or project()
    defaults: dict[str, Any] = {"number": project_row.releases.count() + 1, "digest": "0" * 64, "manifest": {}}
    row = Release.objects.create(project=project_row, **{**defaults, **columns})
    for name, content in (files or {"train.json": b"{}"}).items():
        ReleaseFile.objects.create(release=row, name=name, blob=Blob.store(content))
    return row


def notice(project_row: Project | None = None, words: str = "rows.csv was not imported", **columns: Any) -> Notice:
    """Of something that failed."""
    project_row = project_row or project()
    defaults = {
        "project": project_row,
        "kind": Notice.Kind.STUCK,
        "key": f"key {next(_numbers)}",
        "address": f"/projects/{project_row.slug}/",
        "told_at": timezone.now(),
        "is_event": True,
        "words": words,
    }
    return Notice.objects.create(**{**defaults, **columns})


def figures(stage_row: Stage, **columns: Any) -> models.Model:
    """Set columns of the stage's summary."""
    StageSummary.objects.filter(stage=stage_row).update(**columns)
    return StageSummary.objects.get(stage=stage_row)


def known_questions(count: int = 2) -> list[dict[str, Any]]:
    """Questions whose right choice is the first in turn, then the second, then the first again."""
    return [
        {
            "text": "The ferry left at noon.\nMara stayed on the quay." if number == 0 else "",
            "question": f"Who stayed behind, question {number + 1}?",
            "choices": ["Mara", "The ferry", "Nobody"],
            "right": number % 2,
        }
        for number in range(count)
    ]


def qualification_test(project_row: Project | None = None, **columns: Any) -> QualificationTest:
    """A draft of two questions that nobody was told of."""
    defaults = {"key": f"reading-test-{next(_numbers)}", **_test_columns()}
    return QualificationTest.objects.create(project=project_row or project(), **{**defaults, **columns})


def test_fingerprint() -> str:
    """Of a test as `qualification_test` makes it."""
    return QualificationTest(**_test_columns()).fingerprint


def _test_columns() -> dict[str, Any]:
    return {
        "title": "Reading <b>closely</b>",
        "description": "Two questions about a short text. It opens the stage “Validate”.",
        "questions": known_questions(),
    }


def webhook(project_row: Project | None = None, **columns: Any) -> Webhook:
    """One that is told everything, at an address that nobody may call."""
    defaults = {
        "address": "https://hooks.invalid/annotate?key=of-the-receiver",
        "events": Webhook.Event.values,
        "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    }
    return Webhook.objects.create(project=project_row or project(), **{**defaults, **columns})


def webhook_delivery(webhook_row: Webhook | None = None, **columns: Any) -> WebhookDelivery:
    """A release that is to be told."""
    number = next(_numbers)
    defaults = {
        "message_id": f"msg_{number}",
        "event_id": f"evt_{number}",
        "event": Webhook.Event.RELEASE_MADE,
        "body": '{"type":"release.made","data":{"number":1}}',
    }
    return WebhookDelivery.objects.create(webhook=webhook_row or webhook(), **{**defaults, **columns})
