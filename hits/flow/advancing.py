"""Advancing: what a verdict leads to goes to the next stages of the recipe as it comes."""

from __future__ import annotations

from collections import defaultdict

from django.db import transaction

from hits.flow.collecting import judged, labels_of
from hits.flow.common import make_items, recipe_of
from hits.models import Item, Stage, Verdict
from hits.models.summaries import refresh_summary
from hits.recipes.source import NextItem

CHUNK = 1000


def advance(stage: Stage) -> int:
    """Make later stages' items of the verdicts that nobody took up; returns how many items are new.

    An item that its stage has already, by its key, stays as it is, whatever happens to the verdict later.
    """
    steps = recipe_of(stage.project).steps
    stages = {found.key: found for found in stage.project.stages.all()}
    waiting = Verdict.objects.filter(item__stage=stage, superseded_at=None, advanced=False)
    new: dict[str, int] = defaultdict(int)
    while verdicts := list(waiting.select_related("item__document").order_by("id")[:CHUNK]):
        labels = labels_of([verdict.item_id for verdict in verdicts])
        to_come: dict[str, list[tuple[Item, NextItem]]] = defaultdict(list)
        for verdict in verdicts:
            for made in steps.next_items(judged(stage, verdict.item, verdict, labels.get(verdict.item_id, ()))):
                to_come[made.stage].append((verdict.item, made))
        with transaction.atomic():
            for key, items in to_come.items():
                new[key] += make_items(stages[key], items)
            Verdict.objects.filter(id__in=[verdict.pk for verdict in verdicts]).update(advanced=True)
    for key in new:
        refresh_summary(stages[key])
    return sum(new.values())


def unfinished() -> list[int]:
    """Stages with verdicts that nobody took up since a crash."""
    return sorted(set(Verdict.objects.filter(advanced=False, superseded_at=None).values_list("item__stage", flat=True)))
