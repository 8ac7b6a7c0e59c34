"""What a row of an imported table says of its item beside what the task asks: its priority, and what a model suggests.

The columns are `suggestion:<field>`, `suggestion_score:<field>`, `suggestion_model`, and the one that was chosen as the
priority. They are taken out of the row: so no page shows them as part of it, and no rule or release takes them for
data. A `priority` that the task itself names stays what it is there, a column.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import isfinite
from typing import Any

from hits.core.reading import decoded, text_of
from hits.formats.files.faults import Faults
from hits.formats.files.mapping import TableField
from hits.formats.outputs.results import cell_of
from hits.model_assist.rules import suggestions
from hits.model_assist.rules.suggestions import GivenSuggestion
from hits.models import Item, Stage
from hits.projects.rules.plugins import making_protocol_of, protocol_of, settings_of
from hits.protocols.base import Json
from hits.protocols.columns import columns_of
from hits.protocols.optional import RowsProtocol, SuggestedProtocol
from hits.recipes.source import UNUSED, SourceDocument, SourceItem, SourceSuggestion

PRIORITY, MODEL = "priority", "suggestion_model"
PRIORITY_FIELD = TableField(
    PRIORITY, "A number: items with a higher one are published first. No part of the item itself.", alone=True
)
VALUE, SCORE = "suggestion:", "suggestion_score:"
LARGEST = 10**15


def priority_of(text: str) -> float | None:
    """None for an empty text. Raises ValueError, whose text ends a sentence."""
    if not text.strip():
        return None
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number) or abs(number) > LARGEST:
        raise ValueError(f"must be a number from -{LARGEST:,} to {LARGEST:,}, or empty, not {text.strip()!r:.40}")
    return number


def taken(
    documents: Sequence[SourceDocument], stages: Mapping[str, Stage], priority: str = PRIORITY
) -> list[SourceDocument]:
    """The documents with these columns as priorities and suggestions of their items. `stages` are those that the items
    name; `priority` is the column that says it, empty without one. Raises FormatErrors with every fault.
    """
    faults = Faults()
    tasks: dict[str, _Task] = {}

    def task(name: str) -> _Task:
        if name not in tasks:
            tasks[name] = _Task.of(stages[name])
        return tasks[name]

    found = [
        _taken(document, [task(item.stage) for item in document.items], priority, faults)
        if any(name == priority or is_of_suggestions(name) for name in document.data.get(UNUSED) or ())
        else document
        for document in documents
    ]
    faults.refuse()
    return found


def is_of_suggestions(name: str) -> bool:
    return name == MODEL or name.startswith((VALUE, SCORE))


@dataclass(frozen=True)
class _Task:
    """What the items of a stage are judged by. `named` are the columns that its task reads itself; with `is_of_rows`
    it reads columns, so the row is what it asks about.
    """

    stage: Stage
    protocol: SuggestedProtocol | None
    options: Json
    named: frozenset[str]
    is_of_rows: bool

    @classmethod
    def of(cls, stage: Stage) -> _Task:
        if not stage.crowd:
            return cls(stage, None, {}, frozenset(), False)
        protocol, options = protocol_of(stage), settings_of(stage)
        of_rows = isinstance(protocol, RowsProtocol)
        named = protocol.named_columns(options) if isinstance(protocol, RowsProtocol) else ()
        suggested = protocol if isinstance(protocol, SuggestedProtocol) else None
        return cls(stage, suggested, options, frozenset(named), of_rows)


def _taken(document: SourceDocument, tasks: Sequence[_Task], priority: str, faults: Faults) -> SourceDocument:
    columns = document.data[UNUSED]
    if any(priority in task.named for task in tasks):
        priority = ""
    ours = {name: str(cell) for name, cell in columns.items() if name == priority or is_of_suggestions(name)}
    rest = {name: cell for name, cell in columns.items() if name not in ours}
    data = {name: value for name, value in document.data.items() if name != UNUSED}
    # Where nothing else was kept of the row, nothing is.
    data |= {UNUSED: rest} if rest or any(task.is_of_rows for task in tasks) else {}
    number = _priority(document, priority, ours, faults)
    items = tuple(
        replace(item, priority=number, suggestions=tuple(_suggestions(document, data, item, task, ours, faults)))
        for item, task in zip(document.items, tasks, strict=True)
    )
    return replace(document, data=data, items=items)


def _priority(document: SourceDocument, column: str, ours: Mapping[str, str], faults: Faults) -> float | None:
    try:
        return priority_of(ours.get(column, ""))
    except ValueError as error:
        advice = (
            "it says which items are published first. Rename the column where it means something else, or choose no "
            "column as priority"
        )
        faults.add(document.line, column, f"{error}: {advice}")
        return None


def _suggestions(
    document: SourceDocument, data: Json, item: SourceItem, task: _Task, ours: Mapping[str, str], faults: Faults
) -> Iterator[SourceSuggestion]:
    fields = [name.removeprefix(VALUE) for name, cell in ours.items() if name.startswith(VALUE) and cell.strip()]
    for name, cell in ours.items():
        if name.startswith(SCORE) and cell.strip() and name.removeprefix(SCORE) not in fields:
            faults.add(document.line, name, f"has no suggestion beside it: fill in {VALUE}{name.removeprefix(SCORE)}")
    if fields and task.protocol is None:
        faults.add(document.line, f"{VALUE}{fields[0]}", f"cannot be taken: {suggestions.none_taken(task.stage)}")
        return
    for field in fields:
        assert task.protocol is not None
        given = GivenSuggestion(
            field, ours[VALUE + field].strip(), ours.get(SCORE + field, "").strip(), ours.get(MODEL, "").strip()
        )
        found, wrong = suggestions.checked(task.protocol, task.options, data, item.data, given)
        places = {"score": SCORE + field, "model": MODEL}
        for part, message in wrong:
            faults.add(document.line, places.get(part, VALUE + field), message)
        if found:
            yield found


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
