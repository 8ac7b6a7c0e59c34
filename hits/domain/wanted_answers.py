"""Which items want answers, and how many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from django.db.models import QuerySet

from hits.models.answers import Label
from hits.models.projects import Item, Stage

T = TypeVar("T")


def waiting(stage: Stage, limit: int | None) -> list[int]:
    """Items to be published, in the order in which they are; none of a stage without a crowd."""
    return in_order(stage.items.filter(state=Item.State.NEW), limit) if stage.crowd else []


def in_order(items: QuerySet[Item], limit: int | None = None) -> list[int]:
    """So many of the items in the order in which they are published: by priority, the highest first, then those
    without one; of equal ones those that came first.
    """
    found: list[int] = []
    for rows in by_priority(items):
        more = None if limit is None else limit - len(found)
        found += rows.values_list("id", flat=True)[:more]
    return found


def by_priority(items: QuerySet[Item]) -> tuple[QuerySet[Item], QuerySet[Item]]:
    """Those with a priority and those without, both in order. Each goes by an index; the two in one query, with those
    without one last, would sort all of them.
    """
    return (
        items.filter(priority__isnull=False).order_by("-priority", "id"),
        items.filter(priority__isnull=True).order_by("id"),
    )


def answers_needed(item_pks: Sequence[int]) -> dict[int, int]:
    """Item to the answers that it still wants: those that it wants in all less those that count already."""
    if not item_pks:
        return {}
    wanted = answers_wanted(Stage.objects.get(items=item_pks[0]), item_pks)
    counted = answers_counted(item_pks)
    return {pk: max(1, wanted[pk] - counted[pk]) for pk in item_pks}


def answers_wanted(stage: Stage, item_pks: Iterable[int]) -> dict[int, int]:
    """Item to the answers that it wants in all: those of the stage, or where these can grow its own number."""
    pks = list(item_pks)
    if stage.most_answers is None:
        return dict.fromkeys(pks, stage.answers)
    found: dict[int, int] = {}
    for chunk in chunks(pks):
        rows = Item.objects.filter(pk__in=chunk).values_list("pk", "wanted")
        found |= {pk: wanted or stage.answers for pk, wanted in rows}
    return found


def answers_counted(item_pks: Sequence[int]) -> Counter[int]:
    """Item to the workers whose answers to it count."""
    counted: Counter[int] = Counter()
    for chunk in chunks(item_pks):
        # An answer can have many labels.
        given = Label.objects.of_counting_answers().filter(item__in=chunk).values_list("item", "worker").distinct()
        counted.update(item for item, _ in given)
    return counted


def chunks(rows: Sequence[T], size: int = 5000) -> Iterator[Sequence[T]]:
    """Cuts a list for SQL's limit of parameters."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
