"""Advancing: kept items go on to the next stage of the recipe as their verdicts come."""

from __future__ import annotations

from collections import defaultdict

from django.db import transaction

from hits.flow.common import recipe_of
from hits.models import Item, Stage, Verdict
from hits.models.summaries import refresh_summary

CHUNK = 1000


def advance(stage: Stage) -> int:
    """Make the next stage's items of the verdicts that nobody took up; returns how many items are new.

    Each item of a stage leads to at most one item of another, whatever happens to its verdict later.
    """
    steps = recipe_of(stage.project).steps
    stages = {found.key: found for found in stage.project.stages.all()}
    waiting = Verdict.objects.filter(item__stage=stage, superseded_at=None, advanced=False)
    new: dict[str, int] = defaultdict(int)
    while verdicts := list(waiting.select_related("item__document").order_by("id")[:CHUNK]):
        found = [
            (verdict, steps.next_items(stage.key, verdict.item.document.purpose, verdict.outcome))
            for verdict in verdicts
        ]
        with transaction.atomic():
            for key in {key for _, key in found if key}:
                new[key] += _send_on(stages[key], [verdict.item for verdict, to in found if to == key])
            Verdict.objects.filter(id__in=[verdict.pk for verdict in verdicts]).update(advanced=True)
    for key in new:
        refresh_summary(stages[key])
    return sum(new.values())


def unfinished() -> list[int]:
    """Stages with verdicts that nobody took up since a crash."""
    return sorted(set(Verdict.objects.filter(advanced=False, superseded_at=None).values_list("item__stage", flat=True)))


def _send_on(stage: Stage, items: list[Item]) -> int:
    known = set(stage.items.filter(key__in=[item.key for item in items]).values_list("key", flat=True))
    rows = [
        Item(stage=stage, document_id=item.document_id, parent=item, key=item.key, data=item.data)
        for item in items
        if item.key not in known
    ]
    Item.objects.bulk_create(rows, batch_size=1000)
    return len(rows)
