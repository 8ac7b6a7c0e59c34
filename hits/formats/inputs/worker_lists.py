"""A file of workers' ids: one a line, or a table (CSV) with a column of them."""

from __future__ import annotations

import csv
import io
import re

from hits.formats.files.encodings import decoded

MOST_BYTES = 2 * 1024 * 1024
MOST_LINES = 100_000
_HEADS = {"workerid", "worker", "workers"}
_SEPARATORS = "\t;,"


def read_worker_list(content: bytes) -> list[str]:
    """The ids as they are written, without the lines that are empty; nobody has judged them yet.

    The column is the one that is called worker_id, WorkerId or the like, else the first. Raises ValueError with a
    sentence.
    """
    if len(content) > MOST_BYTES:
        raise ValueError(f"The file has {len(content):,} bytes; at most {MOST_BYTES:,} are taken.")
    try:
        text = decoded(content)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"The file is text neither in UTF-8 nor in UTF-16: see its byte {error.start + 1:,}."
        ) from error
    first = text.lstrip("\r\n").partition("\n")[0]
    separator = max(_SEPARATORS, key=first.count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if any(row)]
    except csv.Error as error:
        raise ValueError(f"The file cannot be read as a table: {error}.") from error
    if len(rows) > MOST_LINES:
        raise ValueError(f"The file has {len(rows):,} lines; at most {MOST_LINES:,} are taken.")
    named = [number for number, cell in enumerate(rows[0]) if _plain(cell) in _HEADS] if rows else []
    column = named[0] if named else 0
    return [row[column] for row in (rows[1:] if named else rows) if len(row) > column and row[column].strip()]


def _plain(cell: str) -> str:
    return re.sub(r"[\s_-]", "", cell).lower()
