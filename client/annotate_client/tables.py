"""Tables on their way in, as files that the API imports, and on their way out, as DataFrames."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias, Union, cast

from annotate_client.errors import TableError

if TYPE_CHECKING:
    import pandas

#: What `import_items` takes: a DataFrame, rows, or a file.
Table: TypeAlias = Union["pandas.DataFrame", Iterable[Mapping[str, Any]], str, "os.PathLike[str]"]

# Rows of results that become a part of a DataFrame at once.
ROWS_AT_ONCE = 10_000
# How pandas says that something is not there; NaN is a float.
_MISSING = ("NAType", "NaTType")
#: Of the long table of results, without those that were asked for besides.
RESULT_COLUMNS = (
    "item", "unit", "worker", "value", "value_text", "correct", "gold", "gold_text", "submitted_at", "seconds", "batch",
)  # fmt: skip


@contextmanager
def as_file(table: Table, name: str | None) -> Iterator[tuple[str, BinaryIO]]:
    """(name, stream) of a file; of what is none, JSON Lines. Raises TableError and OSError."""
    if isinstance(table, (str, os.PathLike)):
        with open(table, "rb") as file:
            yield name or Path(table).name, file
        return
    with tempfile.TemporaryFile() as made:
        rows = _rows_of(table)
        if not rows or not rows[0]:
            raise TableError(["It has no rows, or no columns."])
        for line in _json_lines(rows):
            made.write(line)
        made.seek(0)
        yield name or "rows.jsonl", made


def _rows_of(table: pandas.DataFrame | Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each with all columns: of a file in JSON Lines, those of the first lines are the columns."""
    # Nobody can have a DataFrame without having imported pandas.
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(table, pandas.DataFrame):
        return _rows_of_frame(table)
    rows = list(cast(Iterable[Mapping[str, Any]], table))
    if wrong := [(number, row) for number, row in enumerate(rows, 1) if not isinstance(row, Mapping)]:
        give = "give mappings of column names to values."
        raise TableError([f"row {number}: {_named(row)} is no row: {give}" for number, row in wrong])
    columns = dict.fromkeys(name for row in rows for name in row)
    _refuse_names(list(columns))
    return [{name: row.get(name) for name in columns} for row in rows]


def _rows_of_frame(frame: pandas.DataFrame) -> list[dict[str, Any]]:
    """Without its index. Where cells are missing pandas makes fractions of whole numbers: they become whole again."""
    names = list(frame.columns)
    _refuse_names(names)
    missing = frame.isna()
    whole = {name for name in names if missing[name].any() and _is_whole(frame[name].dropna())}
    return [
        {
            name: None if gone else int(value) if name in whole else value
            for name, value, gone in zip(names, values, gaps, strict=True)
        }
        for values, gaps in zip(
            frame.itertuples(index=False, name=None), missing.itertuples(index=False, name=None), strict=True
        )
    ]


def _is_whole(column: Any) -> bool:
    return bool(column.dtype.kind == "f" and (column % 1 == 0).all())


def _refuse_names(names: Sequence[Any]) -> None:
    faults = [f"{name!r} is no name of a column: name it by a text." for name in names if not isinstance(name, str)]
    twice = dict.fromkeys(name for name in names if names.count(name) > 1)
    faults += [f"{name!r} is the name of two columns: rename one of them." for name in twice]
    if faults:
        raise TableError(faults)


def _json_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    faults: list[str] = []
    for number, row in enumerate(rows, 1):
        cells = {}
        for name, value in row.items():
            try:
                cells[name] = _plain(value)
            except ValueError as error:
                faults.append(f"row {number}, {name}: {error}")
        if not faults:
            yield json.dumps(cells, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    if faults:
        raise TableError(faults)


def _plain(value: Any) -> Any:
    """The value as JSON has it. Raises ValueError."""
    if value is None or type(value).__name__ in _MISSING:
        return None
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        if not _is_text(value):
            raise ValueError("it holds half of a character: read the text again, as UTF-8.")
        return value
    if isinstance(value, float):
        if math.isinf(value):
            raise ValueError(f"{value} is no number that can be sent.")
        return None if math.isnan(value) else value
    if isinstance(value, (date, datetime, time)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    # A number or an array of numpy has it.
    to_plain = getattr(value, "tolist", None)
    if to_plain is not None:
        return _plain(to_plain())
    raise ValueError(f"a value of the type {type(value).__name__} cannot be sent: make a text or a number of it.")


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _named(value: object) -> str:
    return f"{value!r:.40}"


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pandas.DataFrame:
    """Rows of results, some thousand at a time. Raises ImportError with what to install."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("A DataFrame takes pandas: pip install 'annotate-client[pandas]'") from error
    left = iter(rows)
    parts = []
    while some := list(islice(left, ROWS_AT_ONCE)):
        parts.append(_typed(pandas.DataFrame.from_records(some)))
    return pandas.concat(parts, ignore_index=True) if parts else _typed(pandas.DataFrame(columns=list(RESULT_COLUMNS)))


def _typed(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Moments as moments, truth as truth; `value` stays what each answer says."""
    import pandas

    typed: pandas.DataFrame = frame.assign(
        submitted_at=pandas.to_datetime(frame["submitted_at"], utc=True, format="ISO8601").dt.as_unit("us"),
        correct=frame["correct"].astype("boolean"),
        seconds=frame["seconds"].astype("Float64"),
        value=frame["value"].astype(object),
    )
    return typed
