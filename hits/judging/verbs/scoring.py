"""Scoring: each harvested answer is validated by its protocol again and becomes labels."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from common.cutting import cut
from hits.answers.rules import eligibility, item_answers, task_words
from hits.core.jobs.failures import PASSING, UNREAD, unread
from hits.judging.rules.counting import recount
from hits.judging.rules.summaries import refresh_summary, refresh_worker_stats
from hits.model_assist.rules import suggestions
from hits.models import Assignment, Item, Label, Stage
from hits.people.rules import inbox
from hits.projects.rules.plugins import protocol_of, settings_of
from hits.protocols.base import AnswerRefusedError, Json, TaskProtocol
from hits.publishing.rules.hit_items import all_item_pks, items_of
from hits.stages.rules import new_fields

CHUNK = 500
MOST_COUNTED = 1000
# Of a remark, and of why an answer was refused, whatever a task makes of them.
LONGEST_SAID = 10_000


def score(stage: Stage) -> int:
    """Turn unscored answers into labels; returns how many answers were looked at.

    An answer that the protocol refuses keeps its reasons and gives no label: the item is asked again. So does one on
    which the protocol's own code fails; that one says that it is not the worker's fault. The item is asked again, too,
    where the worker was not eligible or too fast: that answer counts only when a lead approves it.
    """
    protocol, settings = protocol_of(stage), settings_of(stage)
    total = 0
    unscored = stage.assignments.filter(scored=False).select_related("hit__item__document", "worker").order_by("id")
    while rows := list(unscored[:CHUNK]):
        items = items_of(row.hit for row in rows)
        labels = [_labels(stage, protocol, settings, row, items[row.hit.pk]) for row in rows]
        new_fields.take_up(stage, (label.unit for of_row in labels for label in of_row))
        _score_chunk(stage, rows, labels)
        total += len(rows)
    if total:
        refresh_summary(stage)
    return total


def _score_chunk(stage: Stage, rows: Sequence[Assignment], labels: Sequence[list[Label]]) -> None:
    """Together; where a table does not take what one of them says, each by itself."""
    try:
        _write(stage, rows, [label for of_row in labels for label in of_row])
    except PASSING:
        raise
    except Exception as error:
        if len(rows) > 1:
            for row, of_row in zip(rows, labels, strict=True):
                _score_chunk(stage, [row], [of_row])
        elif labels[0] or rows[0].remark or not rows[0].problem.startswith(UNREAD):
            rows[0].problem, rows[0].remark = unread(error, f"assignment {rows[0].assignment_id}"), ""
            _score_chunk(stage, rows, [[]])
        else:
            raise


def _write(stage: Stage, rows: Sequence[Assignment], labels: Sequence[Label]) -> None:
    for row in rows:
        row.scored = True
    with transaction.atomic():
        eligibility.lock([row.pk for row in rows])
        Label.objects.bulk_create(labels, batch_size=500, ignore_conflicts=True)
        Assignment.objects.bulk_update(rows, ["scored", "problem", "remark"], batch_size=250)
        suggestions.compare(stage, rows, labels)
        inbox.enter(rows)
        eligibility.recheck([row.pk for row in rows])
        # After problems and holds are written: the labels count or not by what the tables say of their answers.
        recount(stage.assignments.filter(pk__in=[row.pk for row in rows]))
        Item.objects.filter(id__in=all_item_pks(row.hit for row in rows)).update(stale=True)
        # A crash after the answers are scored would leave these for good: nothing else recomputes them.
        refresh_worker_stats(stage, [row.worker_id for row in rows])


def unfinished() -> list[int]:
    """Stages with answers that nobody scored since a crash."""
    return sorted(set(Assignment.objects.filter(scored=False).values_list("stage", flat=True)))


def _labels(
    stage: Stage, protocol: TaskProtocol, settings: Json, row: Assignment, items: Sequence[Item]
) -> list[Label]:
    try:
        # Leads read what is stored of a refusal.
        with task_words.english():
            checked = item_answers.check(protocol, settings, items, row.answer, row.worker.worker_id)
    except AnswerRefusedError as error:
        row.problem = cut(str(error), LONGEST_SAID)
        return []
    except Exception as error:
        row.problem = unread(error, f"assignment {row.assignment_id}")
        return []
    row.remark = cut("\n".join(one.remark for one in checked if one.remark), LONGEST_SAID)
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
        for item, of_item in zip(items, checked, strict=True)
        for label in of_item.labels
    ]


def held_up(stage: Stage) -> list[str]:
    """Answers on which the task's own code failed, as a sentence. Its cost is bounded."""
    # Those with any problem have an index.
    unread = stage.assignments.exclude(problem="").filter(problem__startswith=UNREAD)
    count = len(unread.values_list("pk")[:MOST_COUNTED])
    if not count:
        return []
    answers = f"{'At least ' if count == MOST_COUNTED else ''}{count:,} answer{'' if count == 1 else 's'}"
    return [
        f"{answers} could not be read, because the task's own code failed: they are among the invalid ones, and their "
        "items are asked again. It was not the workers' fault. The log says where it failed."
    ]
