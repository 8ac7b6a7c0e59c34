"""Which labels count: the one writer of `Label.void`. Readers ask `Label.objects.counting()`."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

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
        labels = Label.objects.filter(assignment__in=assignments)
        _set_void(labels.filter(_counts_for_nothing(), void=False), void=True)
        _set_void(labels.filter(~_counts_for_nothing(), void=True), void=False)


def _counts_for_nothing() -> Q:
    """Of a label: its answer was rejected, has a problem or is held, or its worker is blocked in the project."""
    blocks = Block.objects.in_force().filter(project=OuterRef("stage__project"), worker=OuterRef("worker"))
    rejected, invalid = Q(assignment__state=Assignment.State.REJECTED), ~Q(assignment__problem="")
    return rejected | invalid | ~NOT_HELD | Q(Exists(blocks))


def _set_void(labels: QuerySet[Label], *, void: bool) -> None:
    for some in chunks(list(labels.order_by("pk").values_list("pk", "item"))):
        Label.objects.filter(pk__in=[pk for pk, _ in some]).update(void=void)
        Item.objects.filter(pk__in={item for _, item in some}).update(stale=True)
        # What was made from these answers is taken back, or comes back.
        made = Item.objects.filter(source__in=Label.objects.filter(pk__in=[pk for pk, _ in some]).values("assignment"))
        made.update(stale=True)
