"""Blocking: workers significantly below the crowd, by a granted qualification, with evidence and an undo."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from hits.flow.common import gateway
from hits.models import Assignment, Block, Item, Label, Qualification, Stage, Worker
from hits.models.summaries import refresh_summary
from hits.mturk.errors import GoneError, RefusedError
from hits.quality.blocking import Evidence, Policy, Tally, workers_to_block

QUALIFICATION = "poor-quality"


class NoPolicyError(Exception):
    """The stage has no blocking policy."""


class NotBlockableError(Exception):
    """A worker who is not among the stage's proposals; look at the preview again."""


def is_due(stage: Stage) -> bool:
    """Whether another `check_every` answers were scored since the last check."""
    if not stage.quality:
        return False
    every = Policy.from_dict(stage.quality).check_every
    return _scored(stage) // every > stage.quality_checked_at // every


def mark_checked(stage: Stage) -> None:
    Stage.objects.filter(pk=stage.pk).update(quality_checked_at=_scored(stage))


def _scored(stage: Stage) -> int:
    """All answers ever compared with a reference: a block must not turn the clock back."""
    return sum(stage.worker_stats.values_list("scored", flat=True))


def proposals(stage: Stage) -> list[Evidence]:
    """Who would be blocked now, worst first. Workers who are blocked already count for nothing."""
    if not stage.quality:
        return []
    standing = Block.objects.filter(project=stage.project_id).exclude(state=Block.State.UNDONE)
    rows = stage.worker_stats.exclude(worker__in=standing.values("worker")).filter(scored__gt=0)
    tallies = [Tally(*row) for row in rows.values_list("worker__worker_id", "scored", "correct")]
    return workers_to_block(tallies, Policy.from_dict(stage.quality))


def block(stage: Stage, worker_ids: Iterable[str], user: User | None) -> int:
    """Block these workers of the stage's proposals; returns how many blocks are new.

    Raises NotBlockableError, or MarketplaceError when the grant has to wait: the intent stays and
    `finish` carries it out.
    """
    wanted = set(worker_ids)
    evidence = {found.worker: found for found in proposals(stage)}
    standing = set(
        Block.objects.filter(project=stage.project_id, worker__worker_id__in=wanted)
        .exclude(state=Block.State.UNDONE)
        .values_list("worker__worker_id", flat=True)
    )
    unknown = wanted - set(evidence) - standing
    if unknown:
        raise NotBlockableError(
            f"Not below the floor any more: {', '.join(sorted(unknown))}. Look at the preview again."
        )
    new = [_intend(stage, evidence[worker_id], user) for worker_id in sorted(wanted - standing)]
    finish(stage)
    return sum(new)


def _intend(stage: Stage, evidence: Evidence, user: User | None) -> bool:
    """The intent row and the void labels together: from here on the worker's labels do not count."""
    worker = Worker.objects.get(worker_id=evidence.worker)
    try:
        with transaction.atomic():
            Block.objects.create(
                project=stage.project, stage=stage, worker=worker, evidence=evidence.to_dict(), created_by=user
            )
            _void(stage, worker, True)
    except IntegrityError:
        return False
    return True


def _void(stage: Stage, worker: Worker, void: bool) -> None:
    labels = Label.objects.filter(stage__project=stage.project_id, worker=worker)
    if not void:
        labels = labels.exclude(assignment__state=Assignment.State.REJECTED)
    Item.objects.filter(labels__in=labels).update(stale=True)
    labels.update(void=void)


def finish(stage: Stage) -> int:
    """Make the grants and revocations that are intended and not made yet. Both are harmless to repeat."""
    market = gateway()
    done = 0
    for row in Block.objects.filter(project=stage.project_id, state=Block.State.INTENDED).select_related("worker"):
        market.grant(_qualification_type_id(stage), row.worker.worker_id)
        done += Block.objects.filter(pk=row.pk, state=Block.State.INTENDED).update(state=Block.State.GRANTED)
    for row in Block.objects.filter(project=stage.project_id, state=Block.State.LIFTING).select_related("worker"):
        try:
            market.revoke(_qualification_type_id(stage), row.worker.worker_id, "The block was undone.")
        except GoneError:
            pass
        except RefusedError as error:
            if "Granted" not in error.message:
                raise
        Block.objects.filter(pk=row.pk).update(state=Block.State.UNDONE, undone_at=timezone.now())
        done += 1
    refresh_summary(stage)
    return done


def _qualification_type_id(stage: Stage) -> str:
    return Qualification.objects.get(project=stage.project_id, key=QUALIFICATION).qualification_type_id


def undo(row: Block, user: User | None) -> None:
    """Revoke the qualification and let the worker's labels count again. Answers bought meanwhile stay paid."""
    with transaction.atomic():
        standing = Block.objects.filter(pk=row.pk, state__in=[Block.State.GRANTED, Block.State.INTENDED])
        if not standing.update(state=Block.State.LIFTING):
            return
        _void(row.stage, row.worker, False)
    finish(row.stage)


def unfinished() -> Sequence[int]:
    """Stages with grants or revocations that a crash or an absent marketplace left."""
    states = [Block.State.INTENDED, Block.State.LIFTING]
    return sorted(set(Block.objects.filter(state__in=states).values_list("stage", flat=True)))
