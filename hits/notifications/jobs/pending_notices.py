"""What the members of projects are to be told now. Reads only; `hits.notifications.verbs.writing_notices` writes it
down, once.

Each fact has one author, which pages ask too: `hits.notifications.jobs.needs`, the figures of stages, the rows of
batches and calls. The links lead to pages that every role may see.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from django.db.models import Count, Exists, OuterRef, QuerySet
from django.urls import reverse
from django.utils import timezone

from hits.answers.rules import automatic_approval
from hits.answers.verbs import reviewing
from hits.models import (
    Batch,
    Bonus,
    BonusFile,
    BudgetRequest,
    Compensation,
    Grant,
    Hit,
    HitItem,
    Item,
    Pool,
    Project,
    Stage,
    StageSummary,
    Webhook,
    WorkerMessage,
)
from hits.notifications.jobs import needs
from hits.notifications.jobs.needs import Need, some
from hits.notifications.models import Notice
from hits.notifications.rules.notices import Due, Mark, moment
from hits.payments.rules.budget_requests import in_words
from hits.people.rules import inbox
from hits.refusals import Refusal
from hits.workers.rules import block_proposals
from hits.workers.rules.project_qualifications import title_of

Kind = Notice.Kind
# So long before the first answer is approved by itself; where the stage waits shorter, half of that.
REVIEW_HOURS = 24
UNDECIDED = (Item.State.OPEN, Item.State.AGAIN)
AT_WORK = (Hit.State.PLANNED, Hit.State.SENT, Hit.State.LIVE)
# With an error, neither given nor taken until a lead does something.
_FAILED_GRANT = (Grant.State.INTENDED, Grant.State.WITHDRAWING)


def of_projects(projects: Sequence[Project]) -> list[Due]:
    """None of them archived; each with its `account`, its `state`, and its stages with their summaries."""
    return list(_of_projects(projects))


def _of_projects(projects: Sequence[Project]) -> Iterator[Due]:
    beside = needs.beside(projects)
    stages = [stage for project in projects for stage in needs.crowds(project)]
    proposals, left = block_proposals.proposals_of(stages), reviewing.left_of(stages)
    alone = automatic_approval.for_leads_alone(stages)
    for project in projects:
        for need in (*needs.of_money(project), *beside[project.pk]):
            if need.kind:
                due = Due(project.pk, need.kind, need.key, need.words, need.address, need.more)
                if need.kind == Kind.BUDGET:
                    account = project.account
                    facts = {"budget": f"{account.budget:.2f}", "left": f"{account.left:.2f}", "currency": "USD"}
                    due = replace(due, event=Webhook.Event.BUDGET_LOW, facts=facts)
                yield due
    yield from _replies(projects)
    for stage in stages:
        yield from _finished(stage)
        yield from _reviews(stage, left[stage.pk])
        yield from _beyond_the_limit(stage, alone[stage.pk])
        yield from _reports(stage)
        yield from _held_up(stage)
        for evidence in proposals.get(stage.pk, ()):
            yield _block(stage, evidence.worker)
    yield from _batches(stages)
    yield from _calls(projects)
    yield from _decided(projects)


def _finished(stage: Stage) -> Iterator[Due]:
    """For webhooks alone: members are told of batches. What is finished may go on, and be finished again."""
    summary = stage.summary
    now = summary.is_finished
    if now == summary.finished_told:
        return
    mark = Mark(StageSummary.objects.filter(stage=stage), "finished_told", not now, now)
    facts = {
        "stage": stage.key,
        "items": summary.items,
        "kept": summary.kept,
        "dropped": summary.dropped,
        "answers": summary.answers,
    }
    event = Webhook.Event.STAGE_FINISHED if now else ""
    key = f"stage-{stage.pk}-finished"
    yield Due(stage.project_id, Kind.FINISHED, key, "", "", is_event=True, mark=mark, event=event, facts=facts)


def _replies(projects: Sequence[Project]) -> Iterator[Due]:
    """As long as one is open. Remarks are told when they come, with the reports."""
    slugs = {project.pk: project.slug for project in projects}
    for pk, (_, replies) in inbox.open_counts(projects).items():
        if replies:
            said = some(replies, "reply of a worker is open", "replies of workers are open")
            yield Due(pk, Kind.REPORT, "inbox", said, reverse("inbox", args=[slugs[pk]]))


def failed_release(project: Project, error: Exception, said: str = "A release was not made") -> Due:
    """What a refusal says, members may read; of a fault of ours the log says more."""
    more = str(error) if isinstance(error, Refusal) else "The log of the installation says where it failed."
    key = f"release-{timezone.now():%Y%m%d%H%M%S%f}"
    address = reverse("releases", args=[project.slug])
    return Due(project.pk, Kind.STUCK, key, said, address, more, is_event=True)


def _of_stage(stage: Stage, kind: Kind, key: str, need: Need, **more: object) -> Due:
    words = needs.in_stage(need.words, stage, stage.project)
    return Due(stage.project_id, kind, f"{stage.pk}-{key}", words, need.address, need.more, stage.pk, **more)  # type: ignore[arg-type]


def _address(stage: Stage, page: str) -> str:
    return reverse(page, args=[stage.project.slug, stage.key])


def _reviews(stage: Stage, left: int) -> Iterator[Due]:
    at = stage.summary.next_auto_approval
    if not left or at is None:
        return
    before = min(timedelta(hours=REVIEW_HOURS), timedelta(seconds=stage.auto_approval_seconds) / 2)
    if at - timezone.now() <= before:
        need = needs.to_review(stage, left)
        more = f"the first is approved automatically on {moment(at)}"
        yield _of_stage(stage, Kind.REVIEW, "review", Need(need.words, need.address, more))


def _beyond_the_limit(stage: Stage, number: int) -> Iterator[Due]:
    if number:
        said = some(number, "answer waits for your decision", "answers wait for your decision")
        more = (
            f"not passed, and beyond the {stage.unchecked_answers} of one worker that are approved by time: they are "
            "paid when you approve them, or by the marketplace 30 days after submission"
        )
        yield _of_stage(stage, Kind.REVIEW, "unchecked", Need(said, _address(stage, "review"), more))


def _block(stage: Stage, worker: str) -> Due:
    address = reverse("worker", args=[stage.project.slug, worker])
    more = "by the stage's blocking policy, once a manager or owner confirms it"
    return _of_stage(stage, Kind.BLOCK, worker, Need(f"{worker} would be blocked", address, more))


def _reports(stage: Stage) -> Iterator[Due]:
    """What came since the last notice. After a file of results was removed there are fewer, which nobody is told."""
    answers = _address(stage, "answers")
    for column, one, several, address in (
        ("reported", "answer with a new report", "answers with a new report", f"{answers}?show=reported"),
        (
            "taken_back",
            "rejection was taken back by the marketplace",
            "rejections were taken back by the marketplace",
            answers,
        ),
    ):
        now, before = getattr(stage.summary, column), getattr(stage.summary, f"{column}_told")
        if now == before:
            continue
        mark = Mark(StageSummary.objects.filter(stage=stage), f"{column}_told", before, now)
        need = Need(some(now - before, one, several) if now > before else "", address)
        key = f"{column}-{now}-{timezone.now():%Y%m%d%H%M%S%f}"
        yield _of_stage(stage, Kind.REPORT, key, need, is_event=True, mark=mark)


def _held_up(stage: Stage) -> Iterator[Due]:
    """Of stages that were published: what only a person gets going, and what has waited for long."""
    if stage.state == Stage.State.DRAFT:
        return
    for name, sentences in needs.held_up(stage).items():
        more = " ".join(sentences)
        need = Need("Something does not go on", _address(stage, "stage"), more)
        yield _of_stage(stage, Kind.STUCK, name, need, passes=True)


def _batches(stages: Sequence[Stage]) -> Iterator[Due]:
    by_pk = {stage.pk: stage for stage in stages}
    batches = Batch.objects.filter(stage__in=by_pk).order_by("pk")
    for batch in batches.filter(refused__gt=0):
        stage = by_pk[batch.stage_id]
        need = needs.refused_hits(stage, batch.refused)
        yield _of_stage(stage, Kind.STUCK, f"refused-{batch.pk}", need)
    for batch in batches.filter(state=Batch.State.WAITING):
        stage = by_pk[batch.stage_id]
        need = Need(needs.WAITING, _address(stage, "stage"), batch.message)
        yield _of_stage(stage, Kind.STUCK, f"waiting-{batch.pk}", need, passes=True)
    for batch in _ended(batches):
        stage = by_pk[batch.stage_id]
        said = f"A batch of {some(batch.total, 'HIT', 'HITs')} is finished"
        need = Need(said, _address(stage, "stage"), f"it was published on {moment(batch.created_at)}")
        mark = Mark(Batch.objects.filter(pk=batch.pk), "end_told", False, True)
        yield _of_stage(stage, Kind.FINISHED, f"batch-{batch.pk}", need, is_event=True, mark=mark)


def _ended(batches: QuerySet[Batch]) -> list[Batch]:
    """Those that a lead published, with no HIT at workers and no item that wants an answer or a verdict."""
    first = batches.filter(kind=Batch.Kind.FIRST, state=Batch.State.PUBLISHED, end_told=False)
    hits = Hit.objects.filter(batch=OuterRef("pk"))
    # One after another, for the items are asked of few.
    pks = list(first.filter(~Exists(hits.filter(state__in=AT_WORK))).values_list("pk", flat=True))
    further = HitItem.objects.filter(hit__batch=OuterRef("pk"), item__state__in=UNDECIDED)
    undecided = Exists(hits.filter(item__state__in=UNDECIDED)) | Exists(further)
    return list(first.filter(~undecided, pk__in=pks))


def _decided(projects: Sequence[Project]) -> Iterator[Due]:
    """Requests for money that an owner has approved or declined."""
    slugs = {project.pk: project.slug for project in projects}
    decided = BudgetRequest.objects.filter(project__in=slugs, told=False).exclude(state=BudgetRequest.State.WAITING)
    for row in decided.select_related("asked_by", "decided_by", "stage").order_by("pk"):
        by = f" by {row.decided_by.get_username()}" if row.decided_by else ""
        words = f"The request of {row.asker} for {in_words(row)} was {row.get_state_display().lower()}{by}"
        address = reverse("budget-requests", args=[slugs[row.project_id]])
        mark = Mark(BudgetRequest.objects.filter(pk=row.pk), "told", False, True)
        yield Due(row.project_id, Kind.MONEY, f"decided-{row.pk}", words, address, row.reason, is_event=True, mark=mark)


def _calls(projects: Sequence[Project]) -> Iterator[Due]:
    """Calls that the marketplace refused for good, and failed files of bonuses; one of what was ordered together."""
    slugs = {project.pk: project.slug for project in projects}

    def due(project: int, key: str, words: str, page: str, *arguments: object) -> Due:
        return Due(project, Kind.STUCK, key, words, reverse(page, args=[slugs[project], *arguments]))

    bonuses = Bonus.objects.filter(project__in=slugs, state=Bonus.State.REFUSED).order_by()
    for project, order, number in bonuses.values_list("project", "order").annotate(n=Count("pk")):
        said = some(number, "bonus was refused by the marketplace", "bonuses were refused by the marketplace")
        yield due(project, f"bonus-order-{order}", said, "payments")
    for file in BonusFile.objects.filter(project__in=slugs, state=BonusFile.State.FAILED):
        yield due(file.project_id, f"bonus-file-{file.pk}", f"The file of bonuses {file.name} failed", "payments")
    for row in Compensation.objects.filter(project__in=slugs, state=Compensation.State.REFUSED):
        said = f"The compensation of {row.worker_id} was refused by the marketplace"
        yield due(row.project_id, f"compensation-{row.pk}", said, "compensation", row.pk)
    unsent = (WorkerMessage.State.REFUSED, WorkerMessage.State.UNKNOWN)
    messages = WorkerMessage.objects.filter(project__in=slugs, state__in=unsent).order_by()
    for project, stage, page, number in messages.values_list("project", "stage__key", "confirmation").annotate(
        n=Count("pk")
    ):
        said = some(number, "message to a worker", "messages to workers")
        yield due(project, f"messages-{page}", f"{said}: refused, or perhaps not arrived", "workers", stage)
    stages = {project.pk: project.stages.all() for project in projects}
    grants = Grant.objects.filter(project__in=slugs, state__in=_FAILED_GRANT).exclude(error="").order_by()
    pools = {(pool.project_id, pool.key): pool for pool in Pool.objects.filter(project__in=slugs)}
    for project, key, number in grants.values_list("project", "key").annotate(n=Count("pk")):
        if pool := pools.get((project, key)):
            some_of_them = some(number, "worker is", "workers are")
            said = (
                f"{some_of_them} not added to the pool “{pool.name}”, or not taken out of it: the marketplace refused"
            )
            yield due(project, f"grants-{key}", said, "pool", key)
            continue
        title = title_of(key, [stage for stage in stages[project] if stage.grants == key])
        said = f"The qualification “{title}” did not reach {some(number, 'worker', 'workers')}, or was not withdrawn"
        yield due(project, f"grants-{key}", said, "grants-of", key)
