"""A project in which every list is full and every free text is as long as it may be, for tests of how much is sent."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.apps import apps
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from common.cutting import LONGEST_VALUES
from hits.formats.files.faults import LISTED, LONGEST_MESSAGE, LONGEST_PLACE
from hits.formats.inputs import qualification_test, record
from hits.formats.inputs.payments import LONGEST_REASON
from hits.judging.rules.summaries import refresh_summary, refresh_worker_stats
from hits.judging.verbs.computing import LONGEST_ERROR
from hits.judging.verbs.scoring import LONGEST_SAID
from hits.models import (
    Action,
    Assignment,
    BonusFile,
    ComputationRun,
    Document,
    InboxEntry,
    Item,
    Label,
    LedgerCheck,
    Project,
    QualificationTest,
    Stage,
    Upload,
    Verdict,
    Worker,
)
from hits.payments.rules.ledger_differences import Difference
from hits.releases.rules import release_cards
from tests.hits import factories as make
from tests.hits import models_that_answer

# A page of the API has a hundred rows, one of the site fifty.
ROWS = 101
WORDS = "It’s <b>“long”</b> & goes on, isn't it? "
# Columns that programs read: names, keys, states, numbers in texts.
NAMED = {
    "Action.origin", "Assignment.assignment_id", "Assignment.held_for", "Blob.sha256", "BonusOrder.digest",
    "ComputationRun.key", "Document.origin", "Document.purpose", "Grant.key", "Hit.hit_id", "Invitation.digest",
    "Item.ballots", "Label.unit", "MediaFile.base", "MediaFile.content_type", "MediaFile.name", "Notice.address",
    "Pool.key", "Project.namespace", "Project.pseudonym_key", "Project.recipe", "Project.tags", "Release.digest",
    "ReleaseFile.name", "RoutedItem.unit", "Stage.enough", "Stage.events_to", "Stage.grants", "Stage.key",
    "Stage.page_language", "Stage.protocol", "Stage.suggestions", "Upload.origin", "Upload.name", "BonusFile.name",
    "Verdict.outcome", "Verdict.rule", "Webhook.address", "Webhook.earlier_secret", "Webhook.secret",
    "WebhookDelivery.event", "WebhookDelivery.body", "WebhookDelivery.event_id", "Worker.worker_id",
    "QualificationTest.key",
    "Qualification.key", "Suggestion.field", "ModelAnnotator.start", "Compensation.worker_id",
    "Compensation.assignment_id", "QualificationScore.worker_id", "WaitingJob.task", "Lease.name", "Lease.holder",
    "Draft.assignment_id", "Draft.worker_id", "Guest.digest", "WorkerMessage.confirmation", "BonusFile.confirmation",
    "BonusOrder.confirmation",
}  # fmt: skip
# How long a text may be that its column does not bound.
LONGEST = {
    "Bonus.reason": LONGEST_REASON,
    "Compensation.reason": LONGEST_REASON,
    "ComputationRun.error": LONGEST_ERROR,
    "QualificationTest.description": 1500,
    "Assignment.adopted": 300,
    "Assignment.feedback": 1000,
    "Assignment.held": 600,
    "Assignment.problem": LONGEST_SAID,
    "Assignment.remark": LONGEST_SAID,
    "Notice.words": 300,
    "Notice.more": 1000,
}
USUAL = 2000


def text(length: int) -> str:
    return (WORDS * (length // len(WORDS) + 1))[:length]


def fill(stage: Stage, item: Item, owner: Any) -> None:
    """Every list of the stage and of its project has more rows than a page shows, and so has the page of the item."""
    project = stage.project
    _answers(stage, item, make.items(stage, ROWS), owner)
    _people(stage)
    _rows_of_project(project, owner)
    refresh_summary(stage)
    lengthen()


def _answers(stage: Stage, item: Item, items: list[Item], owner: Any) -> None:
    """A worker's answers to each item, which wait for review, and other workers' answers to one item. Half of each lot
    say nothing, so that lists show what was posted.
    """
    worker = Worker.objects.filter(assignments__stage=stage).first() or make.worker()
    columns = {
        "answer": {"text": text(LONGEST_VALUES)},
        "state": Assignment.State.SUBMITTED,
        "auto_approval_at": timezone.now() + timedelta(days=2),
        "remark": "x",
    }
    hit = make.hit(item, slot=9)
    rows = make.assignments(make.hits(items), worker, **columns)
    rows += [make.assignment(hit, make.worker(), **columns) for _ in range(ROWS)]
    value = {"start": 46, "end": 51, "text": text(20_000)}
    Label.objects.bulk_create(
        Label(assignment=row, stage=stage, worker=row.worker, item=row.hit.item, unit="entity", value=value)
        for row in rows[::2]
    )
    Verdict.objects.bulk_create(
        Verdict(item=one, outcome="kept", rule="matches_reference", rule_version=1) for one in items
    )
    InboxEntry.objects.bulk_create(
        InboxEntry(project=stage.project, stage=stage, worker=worker, assignment=row, at=row.submitted_at)
        for row in rows
    )
    for row in rows:
        make.bonus(row, amount=Decimal("0.01"), fee=Decimal("0.01"))
    about: dict[str, Any] = {"project": stage.project, "user": owner, "name": owner.username, "verb": "approved"}
    Action.objects.bulk_create(Action(**about, stage=stage, assignment=row) for row in rows)
    refresh_worker_stats(stage, {row.worker_id for row in rows})


def _people(stage: Stage) -> None:
    for _ in range(ROWS):
        worker = make.worker()
        make.worker_stat(stage, worker, why="x")
        make.block(stage, worker)
        make.grant(stage.project, worker)
        make.reply(make.message(stage, worker))
    for _ in range(ROWS):
        make.message(stage, Worker.objects.filter(assignments__stage=stage).earliest("pk"))


def _rows_of_project(project: Project, owner: Any) -> None:
    for number in range(ROWS):
        make.upload(project, state=Upload.State.REFUSED)
        make.release(project)
        make.ledger_check(project)
        make.compensation(project, amount=Decimal("0.01"), fee=Decimal("0.01"))
        make.budget_request(project)
        make.terms(project)
        make.bonus_file(project)
        make.notice(project)
        make.message_template(project)
        make.media_file(project, name=f"{'x' * 190}{number}.png", base=f"{'x' * 190}{number}.png")
        make.computation_run(project)
    hook = project.webhooks.first() or make.webhook(project)
    for _ in range(ROWS):
        make.webhook_delivery(hook, state="delivered")
    for number in range(45):
        models_that_answer.model(project, f"model {number}")
        make.invitation(project)
    for _ in range(20):
        make.pool(project)
        make.qualification_test(project)


def lengthen() -> None:
    """Every free text of every table as long as it may be."""
    for model, columns in _in_json().items():
        model._base_manager.update(**columns)
    for model in apps.get_app_config("hits").get_models():
        for field in _free(model):
            name = f"{model.__name__}.{field.name}"
            longest = field.max_length or LONGEST.get(name, USUAL)
            try:
                with transaction.atomic():
                    model._base_manager.update(**{field.name: text(longest)})
            except IntegrityError:
                # Of some rows a constraint wants it empty.
                model._base_manager.exclude(**{field.name: ""}).update(**{field.name: text(longest)})


def _in_json() -> dict[type[models.Model], dict[str, Any]]:
    """The columns of JSON that hold free texts. Texts about the rows of a file, such as faults, are of many kinds."""
    faults = [
        {"line": n, "place": f"{n}{text(LONGEST_PLACE - 4)}", "message": f"{n}{text(LONGEST_MESSAGE - 4)}"}
        for n in range(LISTED)
    ]
    differs = Difference("second_hit", text(200), text(200), text(200)).as_row()
    choices = [text(qualification_test.LONGEST_CHOICE)] * qualification_test.MOST_CHOICES
    question = {
        "text": text(qualification_test.LONGEST_TEXT),
        "question": text(qualification_test.LONGEST_QUESTION),
        "choices": choices,
        "right": 0,
    }
    log = [{"step": number, "kept": text(1000)} for number in range(500)]
    return {
        BonusFile: {"faults": faults, "fault_count": len(faults)},
        ComputationRun: {"log": log},
        Document: {"data": {"text": text(record.LONGEST_PASSAGE), "entities": make.MENTIONS, "source": text(200)}},
        LedgerCheck: {"differences": [differs] * 1000},
        QualificationTest: {"questions": [question] * qualification_test.MOST_QUESTIONS},
        Project: {"card": {name: text(longest) for name, longest in release_cards.LONGEST.items()}},
        Upload: {"faults": faults, "fault_count": len(faults), "notes": [text(LONGEST_MESSAGE)] * 200},
    }


def _free(model: type[models.Model]) -> Iterator[models.Field[Any, Any]]:
    """The columns of free text: those that neither are chosen from a list nor have to be different."""
    rules = [rule for rule in model._meta.constraints if isinstance(rule, models.UniqueConstraint)]
    together = {
        name for rule in rules for name in (*rule.fields, *(getattr(one, "name", "") for one in rule.expressions))
    }
    for field in model._meta.concrete_fields:
        is_text = isinstance(field, models.CharField | models.TextField) and not isinstance(field, models.SlugField)
        different = field.unique or field.name in together
        if is_text and not field.choices and not different and f"{model.__name__}.{field.name}" not in NAMED:
            yield field
