"""Which labels count: the one writer of `Label.void`. Readers ask `Label.objects.counting()`."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from hits.domain.hit_items import lock_items
from hits.domain.wanted_answers import chunks
from hits.models.answers import NOT_HELD, Assignment, Label
from hits.models.projects import Item
from hits.models.workers import Block, Worker


def recount(assignments: QuerySet[Assignment]) -> None:
    """Make the labels of these answers void or not, from what the tables say now, and have their items decided again.

    To be called after every change of an answer's state or problem, of what holds it, and of a block, and when labels
    are made, within the transaction of that change.
    """
    with transaction.atomic():
        # Of two changes to the same worker's answers the later one sees what the earlier one wrote.
        list(Worker.objects.select_for_update(no_key=True).filter(pk__in=assignments.values("worker")).order_by("pk"))
        labels = Label.objects.filter(assignment__in=assignments).order_by("pk")
        over = list(labels.filter(_counts_for_nothing(), void=False).values_list("pk", "item"))
        again = list(labels.filter(~_counts_for_nothing(), void=True).values_list("pk", "item"))
        if over or again:
            made = Item.objects.filter(source__in=assignments).values_list("pk", flat=True)
            lock_items([*(item for _, item in (*over, *again)), *made])
        _set_void(over, void=True)
        _set_void(again, void=False)


def _counts_for_nothing() -> Q:
    """Of a label: its answer was rejected, has a problem or is held, or its worker is blocked in the project."""
    blocks = Block.objects.in_force().filter(project=OuterRef("stage__project"), worker=OuterRef("worker"))
    rejected, invalid = Q(assignment__state=Assignment.State.REJECTED), ~Q(assignment__problem="")
    return rejected | invalid | ~NOT_HELD | Q(Exists(blocks))


def _set_void(labels: Sequence[tuple[int, int]], *, void: bool) -> None:
    """Of (label, item)."""
    for some in chunks(labels):
        Label.objects.filter(pk__in=[pk for pk, _ in some]).update(void=void)
        Item.objects.filter(pk__in={item for _, item in some}).update(stale=True)
        # What was made from these answers is taken back, or comes back.
        made = Item.objects.filter(source__in=Label.objects.filter(pk__in=[pk for pk, _ in some]).values("assignment"))
        made.update(stale=True)
