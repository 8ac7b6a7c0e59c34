"""Which items want answers, and how many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
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
    """Item to the answers that it still wants: those of the stage less those that count already."""
    if not item_pks:
        return {}
    wanted = Stage.objects.filter(items=item_pks[0]).values_list("answers", flat=True)[0]
    counted = answers_counted(item_pks)
    return {pk: max(1, wanted - counted[pk]) for pk in item_pks}


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
