"""Which answers and labels count: the one writer of `Label.void`. Readers ask `Label.objects.counting()`."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Case, Q, QuerySet, TextField, Value, When
from django.db.models.functions import Concat

from hits.answers.models import Assignment, Label
from hits.items.models import Item
from hits.judging.rules.required_answers import chunks
from hits.publishing.rules.hit_items import lock_items
from hits.workers.models import Worker, by_blocked_worker


def recount(assignments: QuerySet[Assignment]) -> None:
    """Make the labels of these answers void or not, from what the tables say now, and have their items decided again.

    To be called after every change of an answer's state or problem, of what holds it, and of a block, and when labels
    are made, within the transaction of that change.
    """
    with transaction.atomic():
        # Of two changes to the same worker's answers the later one sees what the earlier one wrote.
        list(Worker.objects.select_for_update(no_key=True).filter(pk__in=assignments.values("worker")).order_by("pk"))
        labels = Label.objects.filter(assignment__in=assignments).alias(why=why_not("assignment__")).order_by("pk")
        over = list(labels.exclude(why="").filter(void=False).values_list("pk", "item"))
        again = list(labels.filter(why="", void=True).values_list("pk", "item"))
        if over or again:
            made = Item.objects.filter(source__in=assignments).values_list("pk", flat=True)
            lock_items([*(item for _, item in (*over, *again)), *made])
        _set_void(over, void=True)
        _set_void(again, void=False)


def why_not(answer: str = "") -> Case:
    """In words, why an answer counts for nothing; empty where it counts, once it is scored.

    Of answers, or of what leads to them, such as labels by `assignment__`.
    """

    def whose(**columns: object) -> Q:
        return Q(**{f"{answer}{name}": value for name, value in columns.items()})

    def words(before: str, column: str) -> Concat:
        return Concat(Value(before), f"{answer}{column}", output_field=TextField())

    return Case(
        When(whose(state=Assignment.State.REJECTED), then=Value("rejected")),
        When(~whose(problem=""), then=words("invalid: ", "problem")),
        When(~whose(held="") & whose(admitted=False), then=Value("left out by a lead")),
        When(~whose(held="") & whose(admitted=None), then=words("not counted yet: ", "held")),
        When(by_blocked_worker(), then=Value("the worker is blocked")),
        default=Value(""),
        output_field=TextField(),
    )


def _set_void(labels: Sequence[tuple[int, int]], *, void: bool) -> None:
    """Of (label, item)."""
    for some in chunks(labels):
        Label.objects.filter(pk__in=[pk for pk, _ in some]).update(void=void)
        Item.objects.filter(pk__in={item for _, item in some}).update(stale=True)
        # What was made from these answers is taken back, or comes back.
        made = Item.objects.filter(source__in=Label.objects.filter(pk__in=[pk for pk, _ in some]).values("assignment"))
        made.update(stale=True)
