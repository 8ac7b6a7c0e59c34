"""Tables of a release: CSV, JSON Lines and Parquet, written in one pass in memory that does not grow with the table.

The same rows always give the same bytes. Texts stay as they are, also where a spreadsheet would run them as a
formula: these files are data sets, and programs read them. What people open in a spreadsheet is defused where it is
sent. An empty cell of a CSV file is an empty text or a value that is not there; and pandas reads cells such as NA as
not there unless `keep_default_na=False`. JSON Lines and Parquet know the difference.

After an error the streams hold a part of a file, which is to be thrown away.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Any, BinaryIO, Literal, TypeAlias

from common.spreadsheet import harmless
from hits.formats.inputs.cosmos import ANSWERS
from hits.formats.outputs.parquet import Kind, ParquetFile

Format = Literal["csv", "jsonl", "parquet"]
Type = Literal["string", "int64", "float64", "bool"]
Row: TypeAlias = Mapping[str, Any]
# Some rows: the values of each column.
Columns: TypeAlias = Sequence[Sequence[Any]]
_Sink = Callable[[Columns], None]

ROW_GROUP = 2000
FORMATS: tuple[Format, ...] = ("csv", "jsonl", "parquet")
# UTF-8 cannot hold halves of surrogate pairs.
_SURROGATE = re.compile("[\ud800-\udfff]")
COSMOS_TYPES: dict[str, Type] = {
    "id": "string",
    "context": "string",
    "question": "string",
    **dict.fromkeys(ANSWERS, "string"),
    "label": "int64",
}


def write_csv(rows: Iterable[Row], columns: Sequence[str], stream: BinaryIO, row_group: int = ROW_GROUP) -> int:
    """RFC 4180 in UTF-8 without a byte order mark, a head first, rows ending in CR LF. Returns the number of rows.

    Truth is true or false, and what is not there an empty cell. Raises ValueError for a row with other columns.
    """
    return _write(_with_columns(rows, columns), columns, [_csv_sink(columns, stream)], row_group)


def write_jsonl(rows: Iterable[Row], columns: Sequence[str], stream: BinaryIO) -> int:
    """One object a line in UTF-8, its fields in the order of the columns. Returns the number of rows.

    Values may be nested. Raises ValueError for a row with other columns and for a number that JSON
    does not have.
    """
    return _write(_with_columns(rows, columns), columns, [_jsonl_sink(columns, stream)])


def write_parquet(rows: Iterable[Row], types: Mapping[str, Kind], stream: BinaryIO, row_group: int = ROW_GROUP) -> int:
    """Parquet without a time stamp, in groups of so many rows. Returns the number of rows.

    Values may be nested, as the types of the columns have it. Raises ValueError for a row with other columns
    and for a value of another type, and Refused.
    """
    columns = list(types)
    with _parquet_sink(types, stream) as sink:
        return _write(_with_columns(rows, columns), columns, [sink], row_group)


def write_all(
    rows: Iterable[Row],
    columns: Sequence[str],
    types: Mapping[str, Type],
    streams: Mapping[Format, BinaryIO],
    row_group: int = ROW_GROUP,
) -> int:
    """One pass over the rows into a stream for each format that is wanted. Returns the number of rows.

    The types are those that the usual data-set libraries name so; a value that is not there is None. Raises
    ValueError for a row with other columns or a value of another type: each format would turn it into
    something else. Raises Refused too.
    """
    if set(columns) != set(types) or len(set(columns)) != len(columns):
        raise ValueError(f"each column needs one type: columns {list(columns)}, types {dict(types)}")
    if unknown := set(streams) - set(FORMATS):
        raise ValueError(f"there are the formats {', '.join(FORMATS)}, not {', '.join(sorted(unknown))}")
    with ExitStack() as stack:
        sinks = [_open(name, columns, types, stream, stack) for name, stream in streams.items()]
        return _write(_with_types(_with_columns(rows, columns), types), columns, sinks, row_group)


def pieces_of(
    batches: Iterable[Columns], columns: Sequence[str], types: Mapping[str, Type], name: Format
) -> Iterator[bytes]:
    """The bytes of one such file, piece by piece as the rows come: for downloads, which nobody has to store first.

    A batch is a part of the rows, as a sequence of values for each column, in their order. CSV is for spreadsheets too:
    cells that those would run as a formula get an apostrophe. JSON Lines may hold nested values. Raises ValueError for
    a batch with another number of columns, and for Parquet what `ParquetFile` raises.
    """
    stream = _Pieces()
    with ExitStack() as stack:
        if name == "csv":
            sink = _csv_sink(columns, stream, _defused)
        elif name == "jsonl":
            sink = _jsonl_sink(columns, stream)
        else:
            sink = stack.enter_context(_parquet_sink({name: types[name] for name in columns}, stream))
        yield from stream.taken()
        for batch in batches:
            if len(batch) != len(columns):
                raise ValueError(f"a batch has {len(batch)} columns, and the table {len(columns)}")
            sink(batch)
            yield from stream.taken()
    # Parquet ends with what it holds.
    yield from stream.taken()


class _Pieces(io.BytesIO):
    """What was written since it was asked last."""

    def __init__(self) -> None:
        super().__init__()
        self._before = 0

    def tell(self) -> int:
        return self._before + super().tell()

    def taken(self) -> list[bytes]:
        part = self.getvalue()
        self._before += len(part)
        self.seek(0)
        self.truncate()
        return [part] if part else []


# Checks on the way


def _with_columns(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[Row]:
    expected = set(columns)
    for number, row in enumerate(rows, 1):
        if row.keys() != expected:
            lacks, more = sorted(expected - row.keys()), sorted(row.keys() - expected)
            raise ValueError(f"row {number} lacks the columns {lacks} and has {more}, which are no columns")
        yield row


def _with_types(rows: Iterable[Row], types: Mapping[str, Type]) -> Iterator[Row]:
    checks = [(name, _FITS[kind]) for name, kind in types.items()]
    for number, row in enumerate(rows, 1):
        for name, fits in checks:
            value = row[name]
            if value is not None and not fits(value):
                raise ValueError(f"row {number}, {name}: {value!r:.80} is no {types[name]}")
        yield row


def _is_text(value: object) -> bool:
    return type(value) is str and not _SURROGATE.search(value)


_FITS: dict[Type, Callable[[Any], bool]] = {
    "string": _is_text,
    "int64": lambda value: type(value) is int and -(2**63) <= value < 2**63,
    "float64": lambda value: type(value) is float and math.isfinite(value),
    "bool": lambda value: type(value) is bool,
}


# Sinks


def _write(rows: Iterator[Row], columns: Sequence[str], sinks: Sequence[_Sink], size: int = ROW_GROUP) -> int:
    count = 0
    while batch := list(islice(rows, size)):
        values = [[row[name] for row in batch] for name in columns]
        for sink in sinks:
            sink(values)
        count += len(batch)
    return count


def _open(name: Format, columns: Sequence[str], types: Mapping[str, Type], stream: BinaryIO, stack: ExitStack) -> _Sink:
    if name == "csv":
        return _csv_sink(columns, stream)
    if name == "jsonl":
        return _jsonl_sink(columns, stream)
    return stack.enter_context(_parquet_sink({name: types[name] for name in columns}, stream))


def _csv_sink(
    columns: Sequence[str], stream: BinaryIO, cells: Callable[[Sequence[Any]], Sequence[Any]] | None = None
) -> _Sink:
    cells = cells or _cells

    def sink(batch: Columns) -> None:
        text = io.StringIO(newline="")
        csv.writer(text).writerows(zip(*map(cells, batch), strict=True))
        stream.write(text.getvalue().encode())

    sink([[name] for name in columns])
    return sink


def _cells(column: Sequence[Any]) -> Sequence[Any]:
    if bool not in set(map(type, column)):
        return column
    return [str(value).lower() if type(value) is bool else value for value in column]


def _defused(column: Sequence[Any]) -> Sequence[Any]:
    # Each value is looked at once: most columns repeat theirs.
    changed = {value: told for value in set(column) if isinstance(value, str) and (told := harmless(value)) != value}
    return _cells([changed.get(value, value) for value in column] if changed else column)


def _jsonl_sink(columns: Sequence[str], stream: BinaryIO) -> _Sink:
    names = [json.dumps(name, ensure_ascii=False).replace("%", "%%") for name in columns]
    line = "{" + ", ".join(f"{name}: %s" for name in names) + "}\n"

    def sink(batch: Columns) -> None:
        stream.write("".join(map(line.__mod__, zip(*map(_encoded, batch), strict=True))).encode())

    return sink


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
# JSON has no line break of its own, for in texts they are written as \n.
_encode_by_line = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=("\n", ": ")).encode


def _encoded(column: Sequence[Any]) -> Sequence[str]:
    """Each value as JSON. Encoding them together takes a fifth of the time; a list or object is more than one line."""
    found = _encode_by_line(column)[1:-1].split("\n")
    return found if len(found) == len(column) else [_encode(value) for value in column]


@contextmanager
def _parquet_sink(types: Mapping[str, Kind], stream: BinaryIO) -> Iterator[_Sink]:
    with ParquetFile(types) as file:

        def sink(batch: Columns) -> None:
            stream.write(file.write(batch))

        yield sink
        stream.write(file.end())
