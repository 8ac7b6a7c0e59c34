"""Removing: all answers of one imported file of results, and what only they brought."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from hits.core.action_log import record
from hits.judging.rules.required_answers import chunks
from hits.judging.rules.summaries import refresh_summary, refresh_worker_stats
from hits.models import Assignment, Block, Document, Item, Project, Stage, Upload, Verdict, Worker
from hits.projects.rules.archived import refuse_archived
from hits.publishing.rules.hit_items import with_hit, without_hit
from hits.refusals import Refused


@dataclass(frozen=True)
class Removal:
    """What removing a file's answers leads to. `judged` are items with a verdict that is judged anew without them,
    `items` those that came with the file and go with it, `made` unpublished items of later stages that go too.
    """

    answers: int
    workers: int
    judged: int
    items: int
    made: int
    why_not: str = ""


def preview(upload: Upload) -> Removal:
    """Changes nothing."""
    mine = upload.answers.all()
    verdicts = Verdict.objects.filter(superseded_at=None, item__imported_answers__imported_from=upload)
    return Removal(
        answers=mine.count(),
        workers=mine.values("worker").distinct().count(),
        judged=verdicts.values("item").distinct().count(),
        items=Item.objects.filter(document__in=_leaving(upload)).count(),
        made=_made(upload).count(),
        why_not=_why_not(upload),
    )


def remove(upload: Upload, user: User | None) -> int:
    """Delete them for good; returns how many answers. Their items are to be decided again.

    Only importing the file again brings them back. Raises Refused (not_removable) and ArchivedError.
    """
    with transaction.atomic():
        refuse_archived(Project.objects.select_for_update(no_key=True).get(pk=upload.project_id))
        row = Upload.objects.select_for_update().get(pk=upload.pk)
        if why_not := _why_not(row):
            raise Refused("not_removable", f"{why_not} Nothing was removed.")
        stage = Stage.objects.select_related("project").get(result_files=row)
        items = sorted(set(row.answers.values_list("item", flat=True)))
        workers = sorted(set(row.answers.values_list("worker__pk", flat=True)))
        behind = set(Stage.objects.filter(items__in=_made(row)).distinct())
        _made(row).delete()
        leaving = list(_leaving(row).values_list("pk", flat=True))
        count = row.answers.count()
        row.answers.all().delete()
        for some in chunks(leaving, 500):
            behind |= set(Stage.objects.filter(items__document__in=some).distinct())
            Document.objects.filter(pk__in=some).delete()
        for some in chunks(items):
            Item.objects.filter(pk__in=some).update(stale=True)
        _forget_workers(stage, workers)
        for changed in behind | {stage}:
            refresh_summary(changed)
        Upload.objects.filter(pk=row.pk).update(state=Upload.State.REMOVED, finished_at=timezone.now())
        row.blob.forget_content()
        record(stage.project, user, "removed imported answers", [stage], {"answers": count, "file": row.name})
    upload.refresh_from_db()
    return count


def _why_not(upload: Upload) -> str:
    if upload.kind != Upload.Kind.RESULTS or upload.state != Upload.State.DONE:
        return f"{upload.name} has no answers here."
    made = Item.objects.filter(source__imported_from=upload)
    if out := made.exclude(pk__in=_made(upload).values("pk")).count():
        return (
            f"{out:,} items of later stages were made from these answers, and are published or answered: what was "
            "asked about them stands on these answers."
        )
    return ""


def _made(upload: Upload) -> QuerySet[Item]:
    """Items that were made from these answers, and that nobody was asked about."""
    made = Item.objects.filter(source__imported_from=upload)
    answered = Assignment.objects.filter(item=OuterRef("pk"))
    children = Item.objects.filter(parent=OuterRef("pk"))
    return without_hit(made).filter(~Exists(answered), ~Exists(children))


def _leaving(upload: Upload) -> QuerySet[Document]:
    """Documents that came with the file, about which nothing but its answers is here."""
    items = Item.objects.filter(document=OuterRef("pk"))
    others = Q(imported_answers__isnull=False) & ~Q(imported_answers__imported_from=upload)
    used = with_hit(items).values("pk")
    made = Item.objects.filter(parent__document=OuterRef("pk")).exclude(pk__in=_made(upload).values("pk"))
    return Document.objects.filter(~Exists(used), ~Exists(items.filter(others)), ~Exists(made), came_with=upload)


def _forget_workers(stage: Stage, workers: list[int]) -> None:
    """Those of whom nothing is left here; of the others, their figures in the stage. Whoever is blocked stays it."""
    here = set(stage.assignments.filter(worker__in=workers).values_list("worker__pk", flat=True))
    refresh_worker_stats(stage, here)
    stage.worker_stats.filter(worker__in=[pk for pk in workers if pk not in here]).delete()
    anywhere = Assignment.objects.filter(worker=OuterRef("pk"))
    blocked = Block.objects.standing().filter(worker=OuterRef("pk"))
    Worker.objects.filter(~Exists(anywhere), ~Exists(blocked), pk__in=workers).exclude(imported_into=None).delete()
