"""Celery: reload, call one room, return a count. The only place where rooms are chained.

A task may run twice at the same time or again after a crash; every room allows that.
"""

from __future__ import annotations

from celery import shared_task
from django.contrib.auth.models import User

from hits.flow import (
    advancing,
    blocking,
    deciding,
    harvesting,
    importing,
    publishing,
    releasing,
    reviewing,
    scoring,
    sending,
)
from hits.models import Block, Project, Stage
from hits.mturk.errors import MarketplaceError

RETRY = {"autoretry_for": (MarketplaceError,), "retry_backoff": 2, "retry_backoff_max": 60, "max_retries": 10}


def _user(pk: int | None) -> User | None:
    return None if pk is None else User.objects.filter(pk=pk).first()


@shared_task
def import_upload(upload_pk: int) -> int:
    return importing.import_upload(upload_pk)


@shared_task
def publish_batch(batch_pk: int) -> int:
    return sending.send(batch_pk)


@shared_task
def harvest_stage(stage_pk: int) -> int:
    """Collect a stage's answers and take them as far as they lead without a person."""
    stage = Stage.objects.select_related("project__account").get(pk=stage_pk)
    new = harvesting.harvest(stage)
    conclude_stage(stage_pk)
    return new


@shared_task
def conclude_stage(stage_pk: int) -> int:
    """From harvested answers to verdicts, blocks, further answers and the next stage's items."""
    stage = Stage.objects.select_related("project__account").get(pk=stage_pk)
    scoring.score(stage)
    if blocking.is_due(stage):
        check_quality(stage_pk)
    concluded = deciding.decide(stage)
    _publish_again(stage)
    if advancing.advance(stage):
        _publish_arrivals(stage)
    return concluded


def _publish_again(stage: Stage) -> None:
    batch = publishing.publish_again(stage)
    if batch:
        publish_batch.delay(batch.pk)


def _publish_arrivals(stage: Stage) -> None:
    for later in stage.project.stages.filter(position__gt=stage.position, auto_publish=True):
        batch = publishing.publish_arrivals(later)
        if batch:
            publish_batch.delay(batch.pk)


@shared_task
def check_quality(stage_pk: int) -> int:
    """The check that is due after every `check_every` scored answers, or on demand."""
    stage = Stage.objects.select_related("project").get(pk=stage_pk)
    blocking.mark_checked(stage)
    found = [evidence.worker for evidence in blocking.proposals(stage)]
    if not found or not stage.auto_block:
        return 0
    return blocking.block(stage, found, None)


@shared_task(**RETRY)
def apply_blocks(stage_pk: int, worker_ids: list[str], user_pk: int | None) -> int:
    stage = Stage.objects.select_related("project").get(pk=stage_pk)
    done = blocking.block(stage, worker_ids, _user(user_pk))
    conclude_project.delay(stage.project_id)
    return done


@shared_task(**RETRY)
def finish_blocks(stage_pk: int) -> int:
    stage = Stage.objects.select_related("project").get(pk=stage_pk)
    done = blocking.finish(stage)
    conclude_project.delay(stage.project_id)
    return done


@shared_task(**RETRY)
def undo_block(block_pk: int) -> None:
    row = Block.objects.select_related("stage__project", "worker").get(pk=block_pk)
    blocking.undo(row, None)
    conclude_project.delay(row.project_id)


@shared_task
def conclude_project(project_pk: int) -> int:
    """A block changes labels in every stage of its project."""
    stages = Stage.objects.filter(project=project_pk).order_by("position")
    return sum(conclude_stage(pk) for pk in stages.values_list("pk", flat=True))


@shared_task(**RETRY)
def finish_reviews(stage_pk: int) -> int:
    done = reviewing.finish(Stage.objects.select_related("project").get(pk=stage_pk))
    conclude_stage.delay(stage_pk)
    return done


@shared_task
def make_release(project_pk: int, user_pk: int | None) -> int:
    project = Project.objects.get(pk=project_pk)
    made, _ = releasing.release(project, _user(user_pk))
    return made.number


@shared_task
def harvest_all() -> int:
    """Beat: every stage that may still receive answers."""
    pks = harvesting.live_stages()
    for pk in pks:
        harvest_stage.delay(pk)
    return len(pks)


@shared_task
def resume_all() -> int:
    """Beat: whatever a crash or an absent marketplace left unfinished goes on by itself."""
    left = [
        *(publish_batch.s(pk) for pk in publishing.unfinished()),
        *(import_upload.s(pk) for pk in importing.unfinished()),
        *(finish_blocks.s(pk) for pk in blocking.unfinished()),
        *(finish_reviews.s(pk) for pk in reviewing.unfinished()),
    ]
    for signature in left:
        signature.delay()
    return len(left)
