"""How many answers each item requires, and stages whose items get additional ones until they have enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import QuerySet

from hits.answers.models import Label
from hits.items.models import Item
from hits.projects.rules.plugins import settings_of, usable_protocol
from hits.protocols.optional import LevelledProtocol
from hits.refusals import Refused
from hits.stages.models import Stage
from hits.stats import enough
from hits.stats.vote_rules.rule_text import units_of

# From so many decided items on, the expectation is their mean.
ENOUGH_DECIDED = 20
COMPARED = ".correct"


def expected(stage: Stage) -> float:
    """The mean number of answers that an item of the stage takes: of those decided, else by an assumed accuracy."""
    if stage.most_answers is None:
        return stage.answers
    taken = stage.summary.answers_taken
    decided = sum(items for _, items in taken)
    if decided >= ENOUGH_DECIDED:
        return sum(answers * items for answers, items in taken) / decided
    return enough.expected_answers(stage.answers, stage.most_answers, stage.enough, stage.project.seed)


def is_measured(stage: Stage) -> bool:
    """Whether that expectation is a mean of decided items."""
    return sum(items for _, items in stage.summary.answers_taken) >= ENOUGH_DECIDED


def units_asked(stage: Stage) -> list[str]:
    """What the condition for enough answers can speak of; empty where the task does not say it."""
    protocol = usable_protocol(stage)
    return list(protocol.levels(settings_of(stage))) if isinstance(protocol, LevelledProtocol) else []


def unknown_units(stage: Stage) -> list[str]:
    """Units that the condition names and no answer to this task has: it could never hold."""
    asked = units_asked(stage)
    if stage.most_answers is None or not asked:
        return []
    there = {name for unit in asked for name in (unit, unit + COMPARED)}
    named = units_of(enough.condition(stage.enough, stage.most_answers))
    return [unit for unit in named if unit not in there and unit.partition("/")[2] not in there]


def faults(stage: Stage) -> list[str]:
    """Those units as sentences."""
    return [
        f"The condition for enough answers names {unit!r}, which the task does not ask. It asks: "
        f"{', '.join(units_asked(stage))}. Correct it in the stage's settings."
        for unit in unknown_units(stage)
    ]


def refuse(stage: Stage) -> None:
    """Raises Refused (unknown_unit)."""
    if found := faults(stage):
        raise Refused("unknown_unit", " ".join(found))


@dataclass(frozen=True)
class Saving:
    """What decided items took: `rows` are (answers, items); `mean` answers an item; `fewer` than with `most` each."""

    rows: tuple[tuple[int, int], ...]
    items: int
    mean: float
    fewer: int


def saving(stage: Stage) -> Saving | None:
    """None before an item is decided, and where the number of answers is fixed."""
    rows = tuple((answers, items) for answers, items in stage.summary.answers_taken)
    items = sum(count for _, count in rows)
    if stage.most_answers is None or not items:
        return None
    taken = sum(answers * count for answers, count in rows)
    return Saving(rows, items, taken / items, stage.most_answers * items - taken)


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
