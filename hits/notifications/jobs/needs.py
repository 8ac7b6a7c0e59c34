"""What needs a lead's decision, in a stage and in many projects at once: each a sentence that leads to its rows.

Pages show it, and `hits.notifications.jobs.pending_notices` tells it unasked. Of stages it reads rows whose number does
not grow with the batch. Of many projects the number of queries does not grow with that of the projects.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, Sum
from django.urls import reverse
from django.utils import timezone

from hits.answers.verbs import reviewing
from hits.core.jobs.failures import note
from hits.core.roles import may_in, page_verb
from hits.judging.verbs import computing, scoring
from hits.models import (
    Batch,
    BudgetRequest,
    ComputationRun,
    Hit,
    Item,
    LedgerCheck,
    Project,
    QualificationTest,
    Stage,
    Upload,
    Webhook,
)
from hits.notifications.models import Notice
from hits.payments.rules.budget_requests import in_words
from hits.people.rules import inbox
from hits.projects.rules.plugins import UNUSABLE, stage_fault
from hits.publishing.verbs import publishing, topping_up
from hits.templatetags.figures import count, money
from hits.workers.rules import block_proposals
from hits.workers.verbs import blocking

# Of the budget: with less left, a lead is told.
LITTLE = 10
# A webhook that takes nothing may take something again before a lead is told.
SILENT = timedelta(minutes=10)
WAITING = "Publishing waits for the marketplace"
# Sentences of single rows on a stage's page.
ROWS_SHOWN = 5
# What holds a stage up, by the module that says it.
_MODULES = {
    "scoring": scoring,
    "computing": computing,
    "topping-up": topping_up,
    "publishing": publishing,
    "blocking": blocking,
}


@dataclass(frozen=True)
class Need:
    """`address` is that of the rows, empty where the lead may not go there; `more` stands behind the words, and `at`
    behind that.

    With a `kind` it is a notice too, of what `key` names; the others are on pages alone, or have notices row by row.
    """

    words: str
    address: str
    more: str = ""
    at: datetime | None = None
    kind: str = ""
    key: str = ""


def some(number: int, one: str, several: str) -> str:
    return f"{count(number)} {one if number == 1 else several}"


def _may(project: Project, page: str) -> bool:
    return may_in(project, page_verb(page, "POST"))


def of_stage(stage: Stage, blocks: int, refused: int, left: int | None = None) -> list[Need]:
    """Of its answers, workers and HITs: with `blocks` proposed, `refused` HITs in its batches, and `left` answers that
    wait for a decision, which are counted where nobody did.
    """
    left = reviewing.left_of([stage])[stage.pk] if left is None else left
    return list(_of_stage(stage, blocks, refused, left))


def _of_stage(stage: Stage, blocks: int, refused: int, left: int) -> Iterator[Need]:
    summary, where = stage.summary, [stage.project.slug, stage.key]
    answers = reverse("answers", args=where)
    if left:
        yield to_review(stage, left)
    if number := summary.held:
        said = "does not count until you approve it" if number == 1 else "do not count until you approve them"
        yield Need(
            f"Held until approved: {count(number)}", f"{answers}?show=held", f"{said}: not eligible, or too fast"
        )
    if blocks:
        may_block = _may(stage.project, "block")
        yield Need(
            some(blocks, "worker would be blocked", "workers would be blocked"),
            reverse("block", args=where) if may_block else "",
            "" if may_block else "managers and owners decide",
        )
    if number := summary.reported:
        yield Need(some(number, "answer with a report", "answers with a report"), f"{answers}?show=reported")
    if number := summary.invalid:
        yield Need(some(number, "invalid answer", "invalid answers"), f"{answers}?show=invalid")
    if refused:
        yield refused_hits(stage, refused)


def to_review(stage: Stage, left: int) -> Need:
    """Of a stage of which `left` answers wait for review; `at` is when the marketplace approves the first of them."""
    at = stage.summary.approval_to_come
    return Need(
        some(left, "answer waits for review", "answers wait for review"),
        reverse("review", args=[stage.project.slug, stage.key]),
        "the first is approved automatically" if at else "",
        at,
    )


def refused_hits(stage: Stage, number: int) -> Need:
    said = some(number, "HIT refused by the marketplace", "HITs refused by the marketplace")
    return Need(said, f"{reverse('hits', args=[stage.project.slug, stage.key])}?state=refused")


def held_up(stage: Stage) -> dict[str, list[str]]:
    """What does not go on by itself, as sentences by the module that says them. It costs the same with many rows."""
    # A HIT whose item is to be published anew matters only while answers of it are still to be fetched.
    told = ~Q(item__state=Item.State.NEW) | Q(due_at__isnull=False)
    late = stage.hits.exclude(error="").exclude(state=Hit.State.REFUSED).filter(told)
    fault = stage_fault(stage)
    found = {
        "plug-in": [fault] if fault else [],
        **{name: _of_module(module, stage) for name, module in _MODULES.items()},
        "hits": list(dict.fromkeys(late.order_by("id").values_list("error", flat=True)[:ROWS_SHOWN])),
    }
    return {name: sentences for name, sentences in found.items() if sentences}


def _of_module(module: Any, stage: Stage) -> list[str]:
    """The code of one task or recipe, which some of them ask, keeps nobody from the page and the other sentences."""
    try:
        found: list[str] = module.held_up(stage)
    except UNUSABLE:
        # That sentence stands there already.
        return []
    except Exception as error:
        return [f"The code of the task failed: {note(error, f'stage {stage.pk}')}. The log tells more."]
    return found


def of_projects(projects: Sequence[Project]) -> dict[int, list[Need]]:
    """By the project's key; nothing of archived ones. Each comes with its `account`, `state` and stages."""
    projects = [project for project in projects if not project.is_archived]
    stages = [stage for project in projects for stage in crowds(project)]
    blocks, left = block_proposals.proposals_of(stages), reviewing.left_of(stages)
    batches = Batch.objects.filter(stage__in=stages).order_by()
    refused = dict(batches.filter(refused__gt=0).values_list("stage").annotate(sum=Sum("refused")))
    waiting = dict(batches.filter(state=Batch.State.WAITING).values_list("stage").annotate(n=Count("pk")))
    found = beside(projects)
    return {
        project.pk: [
            *of_money(project),
            *(
                replace(need, words=in_stage(need.words, stage, project))
                for stage in crowds(project)
                for need in (
                    *of_stage(stage, len(blocks.get(stage.pk, ())), refused.get(stage.pk, 0), left[stage.pk]),
                    *_to_publish(stage, waiting.get(stage.pk, 0)),
                )
            ),
            *found[project.pk],
        ]
        for project in projects
    }


def crowds(project: Project) -> list[Stage]:
    found = [stage for stage in project.stages.all() if stage.crowd]
    for stage in found:
        stage.project = project
    return found


def in_stage(words: str, stage: Stage, project: Project) -> str:
    return f"{words} in {stage.title}" if len(project.stages.all()) > 1 else words


def _to_publish(stage: Stage, waiting: int) -> Iterator[Need]:
    where = [stage.project.slug, stage.key]
    if number := stage.summary.waiting:
        pays = _may(stage.project, "publish")
        address = reverse("publish", args=where) if pays else f"{reverse('items', args=where)}?state=new"
        yield Need(some(number, "item waits to be published", "items wait to be published"), address)
    if waiting:
        yield Need(WAITING, reverse("stage", args=where))


def of_money(project: Project) -> Iterator[Need]:
    account = project.account
    going = project.state in (Project.State.RUNNING, Project.State.PAUSED)
    if going and account.budget and 100 * account.left < LITTLE * account.budget:
        address = f"{reverse('project', args=[project.slug])}#money"
        said = f"Less than {LITTLE} % of the budget is left"
        yield Need(said, address, money(account.left), kind=Notice.Kind.BUDGET, key="budget")


def beside(projects: Sequence[Project]) -> defaultdict[int, list[Need]]:
    """What is not of one stage: drafts of tests, and what failed and was not done again."""
    found: defaultdict[int, list[Need]] = defaultdict(list)
    slugs = {project.pk: project.slug for project in projects}

    def say(project: int, words: str, page: str, argument: Any, kind: str = "") -> None:
        address = reverse(page, args=[slugs[project], argument])
        found[project].append(Need(words, address, kind=kind, key=f"{page}-{argument}" if kind else ""))

    asked = BudgetRequest.objects.filter(project__in=projects, state=BudgetRequest.State.WAITING)
    for row in asked.select_related("asked_by", "stage").order_by("pk"):
        name = row.asked_by.get_username() if row.asked_by else "Somebody"
        address = reverse("budget-requests", args=[slugs[row.project_id]])
        words = f"{name} asks for {in_words(row)}"
        need = Need(words, address, row.why, kind=Notice.Kind.MONEY, key=f"request-{row.pk}")
        found[row.project_id].append(need)
    for pk, (number, _) in inbox.open_counts(projects).items():
        words = some(number, "message of a worker is open", "messages of workers are open")
        found[pk].append(Need(words, reverse("inbox", args=[slugs[pk]]), "remarks and replies"))
    drafts = QualificationTest.objects.filter(project__in=projects, state=QualificationTest.State.DRAFT)
    for project, title, key in drafts.order_by("pk").values_list("project_id", "title", "key"):
        say(project, f"The test “{title}” is a draft", "qualification-test", key)
    for upload in _newest(Upload.objects.filter(project__in=projects), "project"):
        if upload.state == Upload.State.MAPPING:
            say(upload.project_id, f"{upload.name} waits for its columns", "upload", upload.pk)
        elif upload.state in (Upload.State.REFUSED, Upload.State.FAILED):
            say(upload.project_id, f"{upload.name} was not imported", "upload", upload.pk, Notice.Kind.STUCK)
    for run in _newest(ComputationRun.objects.filter(project__in=projects), "project", "key"):
        if run.state == ComputationRun.State.FAILED:
            say(run.project_id, f"The computation {run.key} failed", "computation", run.pk, Notice.Kind.STUCK)
    for check in _newest(LedgerCheck.objects.filter(project__in=projects), "project"):
        if check.faults:
            said = f"{some(len(check.faults), 'difference', 'differences')} between ledger and marketplace"
            say(check.project_id, said, "ledger-check", check.pk, Notice.Kind.STUCK)
    silent = Webhook.objects.not_ended().filter(project__in=projects).exclude(error="")
    for hook in silent.filter(Q(failing_since__lte=timezone.now() - SILENT) | Q(active=False)).order_by("pk"):
        said = "does not take what it is sent" if hook.active else "wants nothing any more, and was switched off"
        say(hook.project_id, f"The webhook {hook.host} {said}", "webhook", hook.pk, Notice.Kind.STUCK)
    return found


def _newest(rows: Any, *alike: str) -> Any:
    """Of the rows that are alike in these columns, the newest."""
    newer = rows.model.objects.filter(pk__gt=OuterRef("pk"), **{name: OuterRef(name) for name in alike})
    return rows.filter(~Exists(newer)).order_by("pk")
