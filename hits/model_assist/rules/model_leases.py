"""What of a stage a model was given and has not answered: leased at the moment, or given too often for once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Q, QuerySet
from django.utils import timezone

from hits.items.models import Item
from hits.model_assist.models import ModelAnnotator, ModelLease
from hits.stages.models import Stage

# How often an item is given to a model that does not answer it.
MOST_TIMES = 3
_TOO_OFTEN = Q(times__gte=MOST_TIMES)


@dataclass(frozen=True)
class Unanswered:
    """`next_free_at`: when the first of the leased items is given again; None where none of them will be.

    An item that is leased for the last time is `leased`, and `not_given_again` too.
    """

    leased: int = 0
    next_free_at: datetime | None = None
    not_given_again: int = 0


def _open() -> QuerySet[ModelLease]:
    return ModelLease.objects.exclude(item__state=Item.State.WITHDRAWN)


def unanswered(annotator: ModelAnnotator, stages: Sequence[Stage]) -> dict[int, Unanswered]:
    """By stage, of those of which the model has unanswered items. One query."""
    is_leased = Q(until__gt=timezone.now())
    rows = _open().filter(stage__in=stages, annotator=annotator).order_by().values("stage_id")
    counted = rows.annotate(
        leased=Count("pk", filter=is_leased),
        free=Min("until", filter=is_leased & ~_TOO_OFTEN),
        spent=Count("pk", filter=_TOO_OFTEN),
    )
    return {row["stage_id"]: Unanswered(row["leased"], row["free"], row["spent"]) for row in counted}


def ended(annotator: ModelAnnotator, stage: Stage) -> QuerySet[ModelLease]:
    """Of items that may be given again now."""
    return _open().filter(stage=stage, annotator=annotator, until__lte=timezone.now(), times__lt=MOST_TIMES)


def not_given_again(annotators: Sequence[ModelAnnotator]) -> QuerySet[ModelLease]:
    return _open().filter(_TOO_OFTEN, annotator__in=annotators)


def counts_of_not_given_again(annotators: Sequence[ModelAnnotator]) -> dict[int, int]:
    """By model, of those that have such items. One query."""
    rows = not_given_again(annotators).order_by().values_list("annotator_id")
    return dict(rows.annotate(n=Count("pk")))
