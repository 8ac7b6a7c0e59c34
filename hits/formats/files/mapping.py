"""Which column of a table is read as which field, and the rows by field with the columns that are not used.

A recipe says in a `Table` which fields it reads. A mapping is the file's column by field. What no field uses is kept as
it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from hits.formats.files import rows
from hits.formats.files.faults import Fault, Faults, FormatErrors
from hits.formats.files.reading import Progress, Row
from hits.refusals import Refusal

Columns = Mapping[str, str]
NONE = ""
# The field that names a row; a task may show it too.
ID = "id"
# A page shows a list of all columns beside each field.
MOST_ASKED = 100
MOST_FAULTS = 20


class MappingRefusedError(Refusal):
    """The mapping does not fit the table or the file; `faults` are sentences. Nothing was changed."""

    error_code = "mapping_refused"
    http_status = 400

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__(" ".join([*faults, "Nothing was changed."]))

    def details(self) -> dict[str, list[str]]:
        return {"faults": list(self.faults)}


@dataclass(frozen=True)
class TableField:
    """`says` is what a lead reads beside its name; each row needs a `needed` one. The column of one that stands `alone`
    is no other field's.
    """

    name: str
    says: str
    needed: bool = False
    alone: bool = False


class Table:
    """The fields that a recipe reads from each row of a table.

    `open`: the other columns stay beside them, and the task reads what it names; see `kept_names`.
    """

    def __init__(self, *fields: TableField, open: bool = False) -> None:
        self.fields = fields
        self.names = tuple(one.name for one in fields)
        self.open = open

    def asking(self, names: Iterable[str]) -> Table:
        """An open table with these fields more, which its task names; those beyond MOST_ASKED are read by name."""
        new = [name for name in names if name not in self.names][:MOST_ASKED]
        more = (TableField(name, "The task names it.", needed=True) for name in new)
        return self.with_fields(*more)

    def with_fields(self, *more: TableField) -> Table:
        return Table(*self.fields, *more, open=self.open)

    def guess(self, columns: Sequence[str], remembered: Columns | None = None) -> dict[str, str]:
        """The column by field: as remembered where the file has that column, else the one of the same name.

        Upper case and spaces make no difference to a name. A field that was left without a column stays so.
        """
        alike = {_plain(column): column for column in reversed(columns)}
        found = {}
        for name in self.names:
            before = (remembered or {}).get(name)
            known = before is not None and (before == NONE or before in columns)
            found[name] = before if known else name if name in columns else alike.get(_plain(name))
        return {name: column for name, column in found.items() if column}

    def complete(
        self,
        pairs: Iterable[tuple[str, str]],
        columns: Sequence[str],
        remembered: Columns | None = None,
        advice: str = "choose one of",
    ) -> dict[str, str]:
        """The mapping of (field, column) pairs; what they do not name is guessed, and an empty column is none. `advice`
        is how a field that is missing gets a column.

        Raises MappingRefusedError with every fault.
        """
        found: dict[str, str] = {}
        faults: list[str] = []
        for name, column in pairs:
            if len(faults) >= MOST_FAULTS:
                break
            if name not in self.names:
                faults.append(f"There is no field “{name:.80}”; there are {_listed(self.names)}.")
            elif column and column not in columns:
                faults.append(f"The file has no column “{column:.80}” for {name}; it has {_listed(columns)}.")
                found.setdefault(name, column)
            elif found.setdefault(name, column) != column:
                faults.append(f"{name} can be one column, not both “{found[name]}” and “{column}”: choose one of them.")
        found = {**self.guess(columns, remembered), **found}
        faults += [
            f"No column is {one.name}, which every row needs: {advice} {_listed(columns)}."
            for one in self.fields
            if one.needed and not found.get(one.name)
        ]
        faults += self._shared(found)
        if faults:
            raise MappingRefusedError(faults)
        mapping = {name: found[name] for name in self.names if found.get(name)}
        if self.open:
            alone = {one.name for one in self.fields if one.alone}
            kept_names(columns, {name: column for name, column in mapping.items() if name not in alone})
        return mapping

    def _shared(self, mapping: Columns) -> list[str]:
        """A task of a lead's own can show one column in many places, so none is chosen for two of its fields; nor is
        that of a field which stands alone.
        """
        alone = {one.name for one in self.fields if one.alone}
        fields: dict[str, list[str]] = {}
        for name in self.names:
            if mapping.get(name):
                fields.setdefault(mapping[name], []).append(name)
        shared = {
            column: names if alone.intersection(names) else [name for name in names if self.open and name != ID]
            for column, names in fields.items()
        }
        return [
            f"“{column}” is chosen for {' and '.join(names)}: choose another column for one of them."
            for column, names in shared.items()
            if len(names) > 1
        ]

    def to_remember(self, mapping: Columns, columns: Sequence[str]) -> dict[str, str]:
        """The mapping for later files, with the fields that were left out although a column has their name."""
        left_out = [name for name in self.guess(columns) if name not in mapping]
        return {**mapping, **dict.fromkeys(left_out, NONE)}


def kept_names(columns: Sequence[str], mapping: Columns) -> dict[str, tuple[str, ...]]:
    """Of an open table, the names under which each column is kept: of the fields that are read from it, or its own.

    Raises MappingRefusedError where two columns would have one name.
    """
    names = {column: tuple(name for name in mapping if mapping[name] == column) or (column,) for column in columns}
    faults = [
        f"{name} is read from “{column}”, and the file has a column “{name}” too, which would be lost: choose that "
        "one, or rename it in the file."
        for name, column in mapping.items()
        if name != column and names.get(name) == (name,) and name in columns
    ]
    if faults:
        raise MappingRefusedError(faults)
    return names


def _plain(name: str) -> str:
    return "".join(name.casefold().split())


def _listed(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - 10:,} more" if len(columns) > 10 else ""
    return ", ".join(columns[:10]) + more


@dataclass(frozen=True, slots=True)
class MappedRow(Row):
    """A row whose faults name the columns of the file. `fields` has an empty text for what has no column."""

    fields: Columns = field(default_factory=dict)
    unused: Columns = field(default_factory=dict)
    mapping: Columns = field(default_factory=dict)

    def say(self, place: str, message: str) -> None:
        Row.say(self, self.column(place), message)

    def column(self, place: str) -> str:
        """A field's place as the file has it: of choices[1] the column that holds the choices, [1]."""
        name, bracket, rest = place.partition("[")
        return self.mapping.get(name, name) + bracket + rest


def mapped_rows(
    stream: BinaryIO,
    table: Table,
    faults: Faults,
    *,
    name: str = "",
    max_bytes: int,
    mapping: Columns | None = None,
    progress: Progress | None = None,
) -> Iterator[MappedRow]:
    """The rows of a file by field. Without a mapping, columns are fields of the same name.

    Rows that cannot be read add to `faults`. Raises FormatErrors for what is no table, or no table of these fields.
    """
    with rows.opened(stream, name, max_bytes=max_bytes) as file:
        given = [] if mapping is None else [(one, mapping.get(one, NONE)) for one in table.names]
        try:
            # Without a mapping nobody can choose.
            advice = "rename one of" if mapping is None else "choose one of"
            columns = table.complete(given, file.columns, advice=advice)
        except MappingRefusedError as error:
            raise FormatErrors([Fault(None, "", fault) for fault in error.faults]) from error
        used = set(columns.values())
        unused = [column for column in file.columns if column not in used]
        for line, cells in file.rows(faults, progress):
            found = {one: cells[columns[one]] if one in columns else "" for one in table.names}
            rest = {column: cells[column] for column in unused if cells[column]}
            yield MappedRow(faults, line, found, rest, columns)
