"""Alice owns a project, Bob is on its team, Charlie is an outsider."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits.items.rules.item_columns import count
from hits.judging.rules.summaries import refresh_summary, refresh_worker_stats
from hits.models import (
    Assignment,
    Blob,
    Block,
    BonusFile,
    BudgetRequest,
    ChangeSet,
    Compensation,
    ComputationRun,
    Grant,
    Hit,
    InboxEntry,
    Invitation,
    Item,
    LedgerCheck,
    MediaFile,
    MessageTemplate,
    ModelAnnotator,
    Pool,
    Project,
    QualificationTest,
    Release,
    Routing,
    Stage,
    Upload,
    WebhookDelivery,
    Worker,
)
from tests.hits import factories as make
from tests.hits import models_that_answer
from tests.hits.protocols import articles, phrases
from tests.hits.text.triples import article


@pytest.fixture
def alice(db: None) -> Any:
    return make.user("alice", password="reading by the river")


@pytest.fixture
def bob(db: None) -> Any:
    return make.user("bob")


@pytest.fixture
def charlie(db: None) -> Any:
    return make.user("charlie")


@pytest.fixture
def lead_client(alice: Any) -> Client:
    """Alice's browser."""
    signed_in = Client()
    signed_in.force_login(alice)
    return signed_in


@dataclass
class World:
    """A project with one row of everything that has a page, and the addresses of those pages."""

    project: Project
    stage: Stage
    item: Item
    hit: Hit
    answer: Assignment
    worker: Worker
    block: Block
    upload: Upload
    release: Release
    compensation: Compensation
    bonus_file: BonusFile
    check: LedgerCheck
    test: QualificationTest
    run: ComputationRun
    grant: Grant
    text: Item
    article: Item
    change_set: ChangeSet
    table: Upload
    results: Upload
    invitation: Invitation
    media: MediaFile
    waiting: Assignment
    asked: BudgetRequest
    model: ModelAnnotator
    routing: Routing
    pool: Pool
    delivery: WebhookDelivery
    template: MessageTemplate
    entry: InboxEntry

    def url(self, name: str) -> str:
        return reverse(name, args=self.arguments(name))

    @cached_property
    def own(self) -> dict[str, list[Any]]:
        """What an address says behind the project or the stage, by the name of its page."""
        return {
            "upload": [self.upload.pk],
            "upload-progress": [self.upload.pk],
            "stop-import": [self.upload.pk],
            **dict.fromkeys(
                ["release", "evaluate-release", "keep-system", "run-baselines", "release-archive"],
                [self.release.number],
            ),
            "release-file": [self.release.number, "train.json"],
            "worker": [self.worker.worker_id],
            "undo-block": [self.block.pk],
            "delete-media": [self.media.pk],
            "pay-bonus": [self.answer.pk],
            **dict.fromkeys(("kept-bonus-file", "kept-bonus-file-progress"), [self.bonus_file.pk]),
            "compensation": [self.compensation.pk],
            "item": [self.item.pk],
            **dict.fromkeys(("approve-request", "decline-request", "withdraw-request"), [self.asked.pk]),
            "ledger-check": [self.check.pk],
            "ledger-check-progress": [self.check.pk],
            "take-back": [self.answer.pk],
            **dict.fromkeys(["review-approve", "review-reject", "review-undo", "review-rest"], [self.waiting.pk]),
            "protocol-page": ["targets"],
            **dict.fromkeys(["protocol-page-item", "undo-on-page"], ["targets", self.text.pk]),
            **dict.fromkeys(("undo-change", "redo-change"), [self.answer.labels.values_list("pk", flat=True)[0]]),
            **dict.fromkeys(["article", "change-mention", "drop-query", "undo-article"], [self.article.pk]),
            **dict.fromkeys(["change-set", "confirm-change-set", "undo-change-set"], [self.change_set.pk]),
            "start-computation": ["words"],
            **dict.fromkeys(OUTSIDE_PAGES | {"import-computation"}, ["filter"]),
            **dict.fromkeys(RUN_PAGES | {"stop-computation", "resume-computation"}, [self.run.pk]),
            **dict.fromkeys(GRANT_PAGES, [self.grant.key]),
            **dict.fromkeys(POOL_PAGES, [self.pool.key]),
            "terms-version": [1],
            "webhook": [self.delivery.webhook_id],
            "message-template": [self.template.pk],
            "reply-to-worker": [self.entry.pk],
            **dict.fromkeys(TEST_PAGES | TEST_VERBS, [self.test.key]),
            "undo-routing": [self.routing.pk],
        }

    def arguments(self, name: str) -> list[Any]:
        if name in FREE:
            return {"recipe-sample": ["choice"], "help-page": ["review"]}.get(name, [])
        if name == "upload-columns":
            return [self.table.project.slug, self.table.pk]
        if name in RESULT_FILE_PAGES:
            return [self.results.project.slug, "moods", self.results.pk]
        stage = self.text.stage if name in OWN_PAGES else self.stage
        stage = self.article.stage if name in ARTICLE_PAGES else stage
        start = [self.project.slug] if name in PROJECT_PAGES | PROJECT_VERBS else [self.project.slug, stage.key]
        return [*start, *self.own.get(name, [])]


TEST_PAGES = {
    "qualification-test", "qualification-test-row", "preview-qualification-test", "offer-qualification-test",
    "qualification-test-results",
}  # fmt: skip
TEST_VERBS = {"fill-qualification-test"}
FREE = {
    "projects", "account", "second-factor", "help", "help-page", "notices", "new-project", "recipe-sample",
    "marketplace-calls", "marketplace-balance",
}  # fmt: skip
OWN_PAGES = {"protocol-page", "protocol-page-item", "undo-on-page"}
ARTICLE_PAGES = {
    "queries", "article", "change-mention", "drop-query", "undo-article", "annotations", "annotations-file",
    "generate-again", "change-set", "confirm-change-set", "undo-change-set",
}  # fmt: skip
GRANT_PAGES = {"grants-of", "grants-progress"}
POOL_PAGES = {"pool", "pool-progress", "best-for-pool"}
OUTSIDE_PAGES = {"computation-outside", "computation-files"}
RUN_PAGES = {"computation", "computation-progress", "computation-results"}
RESULT_FILE_PAGES = {"results-columns", "results-form", "remove-results"}
PROJECT_PAGES = {
    "kept-bonus-file", "kept-bonus-file-progress", "budget-requests",
    "payments", "payments-progress", "pay-bonus", "bonus-file", "compensations",
    "new-compensation", "compensation",
    "project-card", "simulated-crowd-progress", "clone-project", "recipe-file", "add-stage", "members",
    "project", "project-done", "media", "upload", "upload-progress", "upload-columns", "sample-file", "ledger",
    "ledger-csv", "ledger-checks", "ledger-check", "ledger-check-progress", "releases", "release-preview", "release",
    "project-results", "project-results-file",
    "computations", "options", "options-split", *RUN_PAGES, *OUTSIDE_PAGES,
    "release-archive",
    "release-file", "worker", "undo-block", "qualification-tests", "new-qualification-test", *TEST_PAGES,
    "grants", *GRANT_PAGES, "models", "pools", *POOL_PAGES, "terms", "terms-version", "webhooks", "webhook",
    "messages", "message-templates", "message-template", "inbox", "reply-to-worker",
}  # fmt: skip
STAGE_PAGES = {
    "stage", "stage-done", "stage-progress", "publish", "expire", "extend", "items", "item", "hits", "answers",
    "review", "review-reject", "review-rest",
    "block", "block-chosen", "pause-workers", "message-workers", "message-stage", "workers", "workers-csv",
    "stage-settings", "stage-wage", "results", "results-file", *RESULT_FILE_PAGES,
    "agreement", "agreement-csv", "screening", "people-and-models", "people-and-models-csv", "suggestions",
    "suggestions-csv", "priorities",
    "answers-csv", "items-csv", "delete-hits", "take-back", "rule", "rule-progress", "draw", "task-settings",
    "preview-task",
    "protocol-page", "protocol-page-item",
    "changes", "changes-csv", "queries", "article", "annotations", "annotations-file", "change-set",
}  # fmt: skip
PROJECT_VERBS = {
    "check-ledger",
    "change-budget",
    "approve-request",
    "decline-request",
    "withdraw-request",
    "archive-project",
    "restore-project",
    "change-tags",
    "simulated-crowd",
    "import",
    "stop-import",
    "add-media",
    "delete-media",
    "make-release",
    "change-release-card",
    "evaluate-release",
    "keep-system",
    "run-baselines",
    "start-computation",
    "stop-computation",
    "resume-computation",
    "import-computation",
    "withdraw-terms",
    "mark-answered",
    "open-again",
    *TEST_VERBS,
}
STAGE_VERBS = {
    "pause", "resume", "arrivals", "harvest", "auto-block", "advance-approved", "approve", "reject", "try-task",
    "approve-others", "review-approve", "review-undo",
    "required-test", "rule-preview", "confirm-rule", "save-rule", "judge-again", "undo-on-page", "undo-change",
    "redo-change", "change-mention", "drop-query", "undo-article", "generate-again", "confirm-change-set",
    "undo-change-set", "remove-stage", "import-results", "route-items", "undo-routing",
}  # fmt: skip
PAGES = sorted(PROJECT_PAGES | STAGE_PAGES)
VERBS = sorted(PROJECT_VERBS | STAGE_VERBS)


def build_world(owners: list[Any], items: int = 6) -> World:
    """`items` items: half wait, half are published; two are answered, one answer waits for review."""
    project = make.project(owner=owners, name="River news", slug="river-news", budget="1000.00")
    stage = make.stage(
        project,
        key="validate",
        answers=1,
        state=Stage.State.LIVE,
        quality={"check_every": 1000, "min_answers": 20, "floor": 0.2, "alpha": 0.01},
        requirements=[
            {"qualification": "percent_approved", "comparator": "GreaterThanOrEqualTo", "integers": [95]},
            {"qualification": "poor-quality", "comparator": "DoesNotExist"},
        ],
    )
    make.stage(project, key="revalidate", title="Second validation", not_workers_of=["validate"], grants="part-one")
    published = make.items(stage, items // 2, state=Item.State.OPEN)
    make.items(stage, items - items // 2)
    hits = make.hits(published)
    worker, poor = make.worker("AREADER000001"), make.worker("APOOR00000001")
    answer = make.assignment(hits[0], worker, remark="More than one name fits.")
    make.label(answer)
    due = timezone.now() + timedelta(days=2)
    waiting = make.assignment(
        hits[1], worker, state=Assignment.State.SUBMITTED, auto_approval_at=due, problem="No name is chosen."
    )
    make.verdict(answer.hit.item, detail={"right": 1, "wrong": 0})
    refresh_worker_stats(stage, [worker.pk])
    make.worker_stat(stage, make.worker("ALOW000000001"), scored=60, correct=3, answers=60)
    make.worker_stat(stage, make.worker("AGOOD00000001"), scored=400, correct=300, answers=400)
    make.worker_stat(stage, poor, scored=40, correct=2)
    block = make.block(stage, poor)
    make.ledger_entry(stage, reserved=Decimal("5.00"), batch=hits[0].batch)
    refresh_summary(stage)
    fault = {"line": 12, "place": "data[3].qas[0]", "message": "the query holds no @placeholder"}
    upload = make.upload(project, state=Upload.State.REFUSED, faults=[fault], fault_count=1)
    make.bonus(answer)
    make.terms(project)
    file = f"assignment_id,amount,reason\n{answer.assignment_id},0.50,Clear.\n".encode()
    compensation = make.compensation(project)
    return World(
        project, stage, answer.hit.item, answer.hit, answer, worker, block, upload, make.release(project), compensation,
        make.bonus_file(project, file), make.ledger_check(project), make.qualification_test(project),
        make.computation_run(project), make.grant(project, worker), _text(project), *_article(project),
        *_tables(owners), make.invitation(project), make.media_file(project), waiting,
        make.budget_request(project), models_that_answer.model(project), make.routing(stage),
        make.pool(project, worker), make.webhook_delivery(make.webhook(project), state="delivered"),
        make.message_template(project), make.reply(make.message(stage, worker)),
    )  # fmt: skip


def _tables(owners: list[Any]) -> tuple[Upload, Upload]:
    """Items and results that wait for their columns, in a project of its own, for only some recipes read tables."""
    project = make.project(owner=owners, recipe="choice")
    content = b"id,passage,source\n" + b"".join(b"r%d,Rain fell on the quay.,web\n" % n for n in range(7))
    table = make.upload(project, name="rows.csv", content=content, state=Upload.State.MAPPING)
    form = {"show": [], "ask": [{"kind": "one", "key": "mood", "question": "How?", "choices": ["Glad", "Sad"]}]}
    stage = make.stage(project, key="moods", title="Moods", protocol="form", settings={"form": form})
    content = b"AssignmentId,WorkerId,Input.text,Answer.mood\n3A1,A1,Rain fell on the quay.,Glad\n"
    results = make.upload(
        project, stage=stage, kind="results", name="results.csv", content=content, state=Upload.State.MAPPING
    )
    return table, results


def _queries(stage: Stage) -> None:
    """Articles with generated queries, which a reader can learn from and be asked."""
    for number in range(2):
        count_item(make.item(stage, document=make.document(stage.project), data=article(number)))


def _text(project: Project) -> Item:
    """In a stage of its own, for only some protocols have a text's sentences marked."""
    stage = make.stage(project, key="ask", title="Questions", protocol="phrase_questions")
    return make.item(stage, document=make.document(project, data=phrases.DOCUMENT), data=phrases.NP)


def count_item(item: Item) -> None:
    count(item)
    item.save()


def _article(project: Project) -> tuple[Item, ChangeSet]:
    """In a stage without a crowd, with a file of annotations that waits to be confirmed."""
    stage = make.stage(
        project, key="generate", title="Queries", position=0, protocol="passage_queries", crowd=False, rule={}
    )
    document = make.document(project, data=articles.DOCUMENT)
    item = make.item(stage, key="otters", document=document, data=articles.ITEM)
    count_item(item)
    _queries(stage)
    refresh_summary(stage)
    effect = {"items": 1, "before": item.figures, "after": item.figures, "left_out": {}}
    return item, ChangeSet.objects.create(stage=stage, name="corrected.jsonl", blob=Blob.store(b"{}"), effect=effect)


@pytest.fixture
def world(alice: Any, bob: Any) -> World:
    return build_world([alice, bob])
