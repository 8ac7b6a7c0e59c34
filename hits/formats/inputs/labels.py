"""Choices by id: the key of a test part, and what a model chose. Both are small tables of an id and a number.

Three layouts are read, by the ending of the file's name: CSV with a head (`.csv`), JSON Lines (`.jsonl`), and one JSON
object `{id: label}`. Tables may have further columns, such as those of a whole data set. Where an id has several
columns, such as a text's and a question's, an object joins them with a slash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO

from hits.formats.files.faults import Faults
from hits.formats.files.jsonstream import JsonStream, UnreadableJsonError
from hits.formats.files.reading import Row, csv_rows, json_lines, quoted, text_lines, text_pieces

LABEL = "label"
_NUMBER = re.compile(r"[0-9]{1,3}")
_Row = tuple[int | None, str, object]


def read(stream: BinaryIO, name: str, columns: Sequence[str], *, choices: int, max_bytes: int) -> dict[str, int]:
    """Id to label, 0 to `choices` - 1, in the order of the file. Raises FormatErrors with every fault."""
    faults = Faults()
    if name.lower().endswith(".csv"):
        lines = text_lines(stream, max_bytes, faults)
        rows = _table(csv_rows(lines, faults, partial(_check_head, columns)), columns, faults)
    elif name.lower().endswith(".jsonl"):
        rows = _table(json_lines(text_lines(stream, max_bytes, faults), faults), columns, faults)
    else:
        rows = _members(stream, max_bytes, faults)
    found: dict[str, int] = {}
    for line, id, given in rows:
        label = _label(given)
        if id in found:
            faults.add(line, quoted(id), "is there more than once")
        elif label is None or not 0 <= label < choices:
            faults.add(line, quoted(id), f"its label must be a whole number from 0 to {choices - 1}")
        else:
            found[id] = label
    if not found and not faults.count:
        faults.add(None, "", f"the file holds no label. It needs {', '.join(columns)} and {LABEL}")
    faults.refuse()
    return found


def of_ids(said: Mapping[str, int], ids: Sequence[str]) -> list[int]:
    """What was said of each id, in their order. Raises FormatErrors that name each id without a prediction, and each
    prediction for no id of the file.
    """
    faults = Faults()
    known = set(ids)
    for id in known - said.keys():
        faults.add(None, quoted(id), "has no prediction")
    for id in said.keys() - known:
        faults.add(None, quoted(id), "is no id of this file")
    faults.listed.sort(key=lambda fault: (fault.message, fault.place))
    faults.refuse()
    return [said[id] for id in ids]


def _label(given: object) -> int | None:
    if isinstance(given, str) and _NUMBER.fullmatch(given.strip()):
        return int(given)
    return given if type(given) is int else None


def _table(rows: Iterable[tuple[int, Mapping[str, Any]]], columns: Sequence[str], faults: Faults) -> Iterator[_Row]:
    for line, row in rows:
        missing = [name for name in (*columns, LABEL) if name not in row]
        if missing:
            faults.add(line, "", f"lacks {', '.join(missing)}")
        else:
            yield line, "/".join(str(row[name]) for name in columns), row[LABEL]


def _check_head(columns: Sequence[str], row: Row, names: Sequence[str]) -> bool:
    missing = [name for name in (*columns, LABEL) if name not in names]
    if missing:
        row.say("", f"the first line lacks {', '.join(missing)}")
    return not missing


def _members(stream: BinaryIO, max_bytes: int, faults: Faults) -> Iterator[_Row]:
    pieces = JsonStream(text_pieces(stream, max_bytes, faults))
    try:
        for id in pieces.members():
            yield None, id, pieces.value()
        pieces.end()
    except UnreadableJsonError as error:
        faults.add(error.line, "", str(error))
