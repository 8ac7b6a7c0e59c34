"""Tables as CSV, streamed: neither the server's memory nor the wait for the first line grows with the table."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence

from django.http import HttpResponse, StreamingHttpResponse

from common.spreadsheet import harmless


class _Echo:
    """A file that hands back what is written, so that the writer's lines can be streamed."""

    def write(self, line: str) -> str:
        return line


def csv_response(filename: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> HttpResponse:
    response = StreamingHttpResponse(_lines(head, rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response  # type: ignore[return-value]


def _lines(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield writer.writerow(head)
    for row in rows:
        yield writer.writerow([harmless(cell) for cell in row])
