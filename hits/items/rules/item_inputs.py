"""What an item brings to its task, as columns `Input.*` of tables; figures and word of one that a program made."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from hits.core.reading import decoded, text_of
from hits.formats.outputs.results import cell_of
from hits.models import Item, Stage
from hits.projects.rules.plugins import making_protocol_of
from hits.protocols.base import Json
from hits.protocols.columns import columns_of


def count(item: Item) -> None:
    """Write down the figures and the word of an item that a program made, of its data as they are; it is not saved."""
    protocol = making_protocol_of(item.stage)
    item.figures, item.conclusion = protocol.figures(item.data), protocol.word(item.data)


CHUNK = 2000


def inputs_of(document: Json, item: Json) -> Json:
    """The columns of the item's row; of an item without a row, the fields of its document and its own."""
    return columns_of(document, item) or {**document, **item}


def names_of(stage: Stage) -> list[str]:
    """The names of all that items of the stage bring, in their order: PostgreSQL keeps no order of the fields of an
    object. Memory does not grow with the items.
    """
    names: set[str] = set()
    rows = stage.items.values_list(text_of("document__data"), text_of("data")).iterator(chunk_size=CHUNK)
    while part := list(islice(rows, CHUNK)):
        for document, item in _pairs(part):
            names.update(inputs_of(document, item))
    return sorted(names)


def of_items(pks: Collection[int]) -> dict[int, Json]:
    """What each of these items brings, by its id."""
    rows = list(Item.objects.filter(pk__in=pks).values_list("pk", text_of("document__data"), text_of("data")))
    pairs = _pairs([row[1:] for row in rows])
    return {pk: inputs_of(document, item) for (pk, *_), (document, item) in zip(rows, pairs, strict=True)}


def spelled(values: Sequence[Any]) -> list[str | None]:
    """Values as cells of a table, as Mechanical Turk's columns have them; what an item lacks stays None."""
    return [None if value is None else cell_of(value) for value in values]


def _pairs(rows: Sequence[Sequence[Any]]) -> Iterator[tuple[Json, Json]]:
    return zip(decoded([row[0] for row in rows]), decoded([row[1] for row in rows]), strict=True)
