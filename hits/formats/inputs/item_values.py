"""Files that say something of items that are there: suggestions of a model, and priorities. One row for each.

They are tables as `hits.formats.files.rows` reads them. A column that is none of the format's is a fault: a misspelt
one would be left out in silence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from hits.formats.files.faults import Faults
from hits.formats.files.mapping import Table, TableField, mapped_rows
from hits.formats.files.reading import quoted

# Of a file, and of what a program sends at once: their items are held while they are looked at and written.
MOST_ROWS = 20_000
MOST_BYTES = 8_000_000
SUGGESTIONS = Table(
    TableField("item", "The item's id", needed=True),
    TableField("field", "What is suggested, such as choice", needed=True),
    TableField("value", "As a gold answer is written", needed=True),
    TableField("score", "How sure the model is, 0 to 1"),
    TableField("model", "Its name"),
)
PRIORITIES = Table(
    TableField("item", "The item's id", needed=True),
    TableField("priority", "A number; a higher one is published first", needed=True),
)


@dataclass(frozen=True)
class Place:
    """Where something was read: a line of a file, or a row of what a program sent, such as `suggestions[0].`."""

    line: int | None = None
    row: str = ""

    def say(self, faults: Faults, part: str, message: str) -> None:
        faults.add(self.line, f"{self.row}{part}", message)


@dataclass(frozen=True)
class SuggestionRow:
    """Texts as they were written; score and model may be empty."""

    item: str
    field: str
    value: str
    score: str
    model: str
    place: Place


@dataclass(frozen=True)
class PriorityRow:
    """`priority` is a text as it was written; empty: the item has none any more."""

    item: str
    priority: str
    place: Place


def read_suggestions(stream: BinaryIO, name: str = "") -> list[SuggestionRow]:
    """Raises FormatErrors with every fault of the file itself."""
    return [
        SuggestionRow(
            fields["item"].strip(),
            fields["field"].strip(),
            fields["value"].strip(),
            fields["score"].strip(),
            fields["model"].strip(),
            Place(line),
        )
        for line, fields in _rows(stream, SUGGESTIONS, name)
    ]


def read_priorities(stream: BinaryIO, name: str = "") -> list[PriorityRow]:
    """Raises FormatErrors with every fault of the file itself."""
    return [
        PriorityRow(fields["item"].strip(), fields["priority"].strip(), Place(line))
        for line, fields in _rows(stream, PRIORITIES, name)
    ]


def _rows(stream: BinaryIO, table: Table, name: str) -> Iterator[tuple[int, dict[str, str]]]:
    faults = Faults()
    found = []
    unknown: set[str] = set()
    for row in mapped_rows(stream, table, faults, name=name, max_bytes=MOST_BYTES):
        for column in row.unused:
            if column not in unknown:
                unknown.add(column)
                row.say(column, f"is a column that is not read; there are: {', '.join(table.names)}")
        found.append((row.line, dict(row.fields)))
        if len(found) > MOST_ROWS:
            faults.add(None, "", f"the file has more than {MOST_ROWS:,} rows: send them in several files")
            break
    faults.refuse()
    yield from found


def too_many(count: int) -> str:
    """The fault of so many rows that a program sent at once."""
    return f"{count:,} rows were sent, the limit is {MOST_ROWS:,}: send them in parts"


def double(first: Place, what: str) -> str:
    """The fault of a second row about the same; `first` is the place of the first one."""
    where = f"line {first.line:,}" if first.line is not None else quoted(first.row.rstrip("."))
    return f"{what} stands in {where} already: keep one of the two"
