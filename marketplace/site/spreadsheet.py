"""Tables as CSV files that people open in a spreadsheet."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from common.spreadsheet import harmless


class _Line:
    """Hands each line on instead of keeping it."""

    def write(self, line: str) -> str:
        return line


def lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """The file, line by line, with a byte order mark: without it spreadsheets garble names."""
    writer = csv.writer(_Line())
    yield "\ufeff" + str(writer.writerow(columns))
    for row in rows:
        yield str(writer.writerow([harmless(cell) for cell in row]))
