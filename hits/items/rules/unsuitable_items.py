"""Items that do not fit what their stage asks, such as rows without a column that its form names.

The same fault of many items is told once, with how many have it and the first of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from django.db.models import QuerySet

from hits.items.rules import media
from hits.judging.rules.required_answers import by_priority
from hits.models import Item, Stage
from hits.projects.rules.plugins import settings_of, usable_protocol
from hits.protocols.base import Json
from hits.protocols.optional import FittedProtocol
from hits.refusals import Refused

# Items that a page looks at: its time must not grow with the stage.
LOOKED_AT = 5000
# Faults that differ, of which more are only counted.
MOST_FAULTS = 100
SHOWN = 5


@dataclass
class FaultGroup:
    """A sentence that fits `count` items; `first` is the key of the first of them."""

    message: str
    first: str
    count: int = 1


def grouped(faults: Iterable[tuple[str, Sequence[str]]]) -> list[FaultGroup]:
    """Of (an item's key, its faults); those beyond MOST_FAULTS are the last one together."""
    found: dict[str, FaultGroup] = {}
    rest = FaultGroup("Other faults of this kind.", "", 0)
    for first, messages in faults:
        for message in messages:
            if message in found:
                found[message].count += 1
            elif len(found) < MOST_FAULTS:
                found[message] = FaultGroup(message, first)
            else:
                rest.first, rest.count = rest.first or first, rest.count + 1
    return [*found.values(), *([rest] if rest.count else [])]


def of_waiting(stage: Stage, most: int = LOOKED_AT) -> list[FaultGroup]:
    """Of the items of the stage that are to be published first, as the task is now."""
    return _of_rows(stage, by_priority(stage.items.filter(state=Item.State.NEW)), most)


def of_items(stage: Stage, items: QuerySet[Item], most: int = LOOKED_AT) -> list[FaultGroup]:
    """Of the first of these items of the stage, as the task is now."""
    return _of_rows(stage, [items.order_by("id")], most)


def _of_rows(stage: Stage, parts: Iterable[QuerySet[Item]], most: int) -> list[FaultGroup]:
    """Of the first rows of these parts, one part after another."""
    protocol = usable_protocol(stage)
    if not isinstance(protocol, FittedProtocol):
        return []
    options = settings_of(stage)
    columns = (part.values_list("key", "document__data", "data")[:most] for part in parts)
    rows = islice(chain.from_iterable(part.iterator(chunk_size=2000) for part in columns), most)
    return grouped(_faults(protocol, stage.project_id, rows, options))


def _faults(
    protocol: FittedProtocol, project_pk: int, rows: Iterator[tuple[str, Json, Json]], options: Json
) -> Iterator[tuple[str, Sequence[str]]]:
    while part := list(islice(rows, media.ROWS_AT_ONCE)):
        documents = media.with_media(protocol, project_pk, [(document, data) for _, document, data in part], options)
        for (key, _, data), document in zip(part, documents, strict=True):
            yield key, protocol.item_faults(document, data, options)


def refuse(stage: Stage, items: int) -> None:
    """Raises Refused (items_do_not_fit) where one of so many items, which are to be published next, does not fit."""
    if found := of_waiting(stage, items):
        faults = [vars(group) for group in found]
        raise Refused("items_do_not_fit", " ".join(sentences(found)), faults=faults)


def sentences(groups: Sequence[FaultGroup]) -> list[str]:
    """What a lead reads of them; at most a few."""
    told = [f"{_items(one.count)}, such as {one.first}: {one.message}" for one in groups[:SHOWN]]
    more = len(groups) - SHOWN
    return told + ([f"And {more:,} more fault{'s' if more > 1 else ''} of items."] if more > 0 else [])


def _items(count: int) -> str:
    return "1 waiting item does not fit the task" if count == 1 else f"{count:,} waiting items do not fit the task"
