"""Scoring: each harvested answer is validated by its protocol again and becomes labels."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from hits.flow.common import protocol_of
from hits.models import Assignment, Item, Label, Stage
from hits.models.counting import recount
from hits.models.summaries import refresh_summary, refresh_worker_stats
from hits.protocols.base import AnswerRefusedError, TaskProtocol

CHUNK = 500


def score(stage: Stage) -> int:
    """Turn unscored answers into labels; returns how many answers were looked at.

    An answer that the protocol refuses keeps its reasons and gives no label: the item is asked again.
    """
    protocol = protocol_of(stage)
    total = 0
    while rows := _unscored(stage):
        _score_chunk(stage, protocol, rows)
        total += len(rows)
    if total:
        refresh_summary(stage)
    return total


def _unscored(stage: Stage) -> list[Assignment]:
    rows = stage.assignments.filter(scored=False).select_related("hit__item__document", "worker")
    return list(rows.order_by("id")[:CHUNK])


def _score_chunk(stage: Stage, protocol: TaskProtocol, rows: Sequence[Assignment]) -> None:
    labels: list[Label] = []
    for row in rows:
        labels += _labels(stage, protocol, row)
        row.scored = True
    with transaction.atomic():
        Label.objects.bulk_create(labels, batch_size=500, ignore_conflicts=True)
        Assignment.objects.bulk_update(rows, ["scored", "problem", "remark"], batch_size=250)
        # After the problems are written: the labels count or not by what the tables say of their answers.
        recount(stage.assignments.filter(pk__in=[row.pk for row in rows]))
        Item.objects.filter(id__in={row.hit.item_id for row in rows}).update(stale=True)
    refresh_worker_stats(stage, [row.worker_id for row in rows])


def unfinished() -> list[int]:
    """Stages with answers that nobody scored since a crash."""
    return sorted(set(Assignment.objects.filter(scored=False).values_list("stage", flat=True)))


def _labels(stage: Stage, protocol: TaskProtocol, row: Assignment) -> list[Label]:
    item = row.hit.item
    try:
        checked = protocol.check(item.document.data, item.data, stage.settings, row.answer, row.worker.worker_id)
    except AnswerRefusedError as error:
        row.problem = str(error)
        return []
    row.remark = checked.remark
    return [
        Label(
            assignment=row,
            item=item,
            stage=stage,
            worker_id=row.worker_id,
            unit=label.unit,
            value=label.value,
            correct=label.correct,
        )
        for label in checked.labels
    ]
