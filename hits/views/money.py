"""The ledger: entries, sums, export."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from hits.models import LedgerEntry, Project
from hits.views import paging
from hits.views.guard import PAGE, for_project

COLUMNS = ["id", "created_at", "kind", "stage", "reserved", "paid", "fee", "batch", "hit", "assignment", "note"]


@for_project(PAGE)
def ledger(request: HttpRequest, project: Project) -> HttpResponse:
    """The sums are the account's two columns, which change in one transaction with the entries."""
    kind = request.GET.get("kind", "")
    rows = project.ledger.select_related("stage", "hit__item", "assignment__worker")
    if kind in LedgerEntry.Kind.values:
        rows = rows.filter(kind=kind)
    context = {
        "project": project,
        "page": paging.by_id(rows, request.GET, newest_first=True),
        "filters": [("", "All"), *LedgerEntry.Kind.choices],
        "chosen": kind,
    }
    return render(request, "projects/ledger.html", context)


class _Echo:
    """A file that hands back what is written, so that the writer's lines can be streamed."""

    def write(self, line: str) -> str:
        return line


@for_project(PAGE)
def ledger_csv(request: HttpRequest, project: Project) -> HttpResponse:
    response = StreamingHttpResponse(_lines(project), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-ledger.csv"'
    return response  # type: ignore[return-value]


def _lines(project: Project) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield writer.writerow(COLUMNS)
    rows = project.ledger.order_by("id").values_list(
        "id", "created_at", "kind", "stage__key", "reserved", "paid", "fee", "batch", "hit__hit_id",
        "assignment__assignment_id", "note",
    )  # fmt: skip
    for number, created_at, *rest, note in rows.iterator(chunk_size=2000):
        yield writer.writerow([number, created_at.isoformat(), *rest, _harmless(note)])


def _harmless(text: str) -> str:
    """A spreadsheet runs a cell that begins like a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t")) else text
