"""Tables as CSV files that people open in a spreadsheet."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from common.spreadsheet import csv_lines


def lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """The file, line by line, with a byte order mark: without it spreadsheets garble names."""
    yield "\ufeff"
    yield from csv_lines(columns, rows)
