"""Which items want answers, and how many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from hits.models.answers import Label
from hits.models.projects import Item, Stage

T = TypeVar("T")


def waiting(stage: Stage, limit: int | None) -> list[int]:
    """Items to be published, oldest first; none of a stage without a crowd."""
    if not stage.crowd:
        return []
    return list(stage.items.filter(state=Item.State.NEW).order_by("id").values_list("id", flat=True)[:limit])


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
