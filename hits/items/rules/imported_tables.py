"""What a lead sees of a table before it is imported, and which of its columns is read as what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import BinaryIO

from django.conf import settings
from django.db.models import Q

from hits.formats.files import rows
from hits.formats.files.faults import Faults
from hits.formats.files.mapping import Table, TableField
from hits.items.rules.item_columns import PRIORITY, PRIORITY_FIELD, is_of_suggestions
from hits.models import Blob, Project
from hits.projects.rules.plugins import protocol_of, recipe_of, settings_of
from hits.protocols.optional import RowsProtocol
from hits.refusals import Refused

# Of a larger file, the rows are not counted before it is imported.
COUNTED_BYTES = 1_000_000


@dataclass(frozen=True)
class ShownTable:
    """`mapping` is the best guess, the column by field; `count` is the number of rows where it is known."""

    kind: str
    columns: tuple[str, ...]
    rows: tuple[rows.TableRow, ...]
    fields: tuple[TableField, ...]
    mapping: Mapping[str, str]
    count: int | None
    note: str

    def unused(self, mapping: Mapping[str, str]) -> list[str]:
        """The columns that a mapping leaves to be kept as they are."""
        used = set(mapping.values())
        return [name for name in self.columns if name not in used and not is_of_suggestions(name)]

    @property
    def of_suggestions(self) -> list[str]:
        """The columns that are read as suggestions of a model, by their names."""
        return [name for name in self.columns if is_of_suggestions(name)]


def table_of(project: Project) -> Table | None:
    """What is read of each row: of an open table also the columns that the tasks about rows of the file name now, and
    of any the priority, unless a task names a column so.

    Raises what a task raises that cannot be used.
    """
    if (table := recipe_of(project).table) is None:
        return None
    named = _named_columns(project) if table.open else []
    asked = table.asking(named) if table.open else table
    return asked if PRIORITY in (*named, *asked.names) else asked.with_fields(PRIORITY_FIELD)


def without_priority(project: Project, mapping: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """(the mapping for the recipe, which keeps the column as it keeps any that no field uses; the column that was
    chosen as the priority, empty without one or where a task names a column so).
    """
    table = table_of(project)
    if table is None or PRIORITY_FIELD not in table.fields:
        return dict(mapping), ""
    return {name: column for name, column in mapping.items() if name != PRIORITY}, mapping.get(PRIORITY, "")


def _named_columns(project: Project) -> list[str]:
    of_rows = project.stages.filter(Q(input={}) | Q(input__stage="")).order_by("position")
    found: list[str] = []
    for stage in of_rows:
        protocol = protocol_of(stage)
        if isinstance(protocol, RowsProtocol):
            found += protocol.named_columns(settings_of(stage))
    return list(dict.fromkeys(found))


def needed_table(project: Project) -> Table:
    """Raises Refused (no_table)."""
    if (table := table_of(project)) is None:
        raise Refused(
            "no_table",
            f"Files of the recipe {project.recipe} are no tables: there are no columns to choose. Nothing was changed.",
        )
    return table


def shown(project: Project, stream: BinaryIO, name: str) -> ShownTable:
    """The columns with the first rows. Raises Refused (no_table), and FormatErrors for what is no table."""
    table = needed_table(project)
    size = stream.seek(0, 2)
    stream.seek(0)
    with rows.opened(stream, name, max_bytes=settings.MAX_IMPORT_BYTES) as file:
        first = tuple(file.first())
        count = sum(1 for _ in file.rows(Faults())) if size <= COUNTED_BYTES else None
        mapping = table.guess(file.columns, project.mapping)
        return ShownTable(file.kind, file.columns, first, table.fields, mapping, count, file.note)


def checked_mapping(
    project: Project, stream: BinaryIO, name: str, pairs: Iterable[tuple[str, str]]
) -> tuple[dict[str, str], dict[str, str]]:
    """The mapping of (field, column) pairs, and what to remember of it for the project.

    Raises MappingRefusedError with every fault, Refused (no_table), and FormatErrors for what is no table.
    """
    table = needed_table(project)
    with rows.opened(stream, name, max_bytes=settings.MAX_IMPORT_BYTES) as file:
        mapping = table.complete(pairs, file.columns, project.mapping)
        return mapping, table.to_remember(mapping, file.columns)


def guessed_mapping(project: Project, table: Table, stream: BinaryIO, name: str) -> dict[str, str]:
    """Of a file that comes without one. The stream goes back to its beginning."""
    with rows.opened(stream, name, max_bytes=settings.MAX_IMPORT_BYTES) as file:
        mapping = table.guess(file.columns, project.mapping)
    stream.seek(0)
    return mapping


def remarks(stream: BinaryIO, name: str) -> list[str]:
    """What to know of a table beside its rows. The stream goes back to its beginning."""
    stream.seek(0)
    with rows.opened(stream, name, max_bytes=settings.MAX_IMPORT_BYTES) as file:
        found = file.remarks()
    stream.seek(0)
    return found


@contextmanager
def file_of(blob: Blob) -> Iterator[BinaryIO]:
    """The bytes that were sent in, on the disk: the file itself takes no memory."""
    with TemporaryFile() as file:
        for chunk in blob.read_chunks():
            file.write(chunk)
        file.seek(0)
        yield file
