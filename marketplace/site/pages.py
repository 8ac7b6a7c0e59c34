"""Rendering with the worker's header: two queries, on every page of the site."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from django.conf import settings
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from common.spreadsheet import csv_lines
from marketplace.models import Worker
from marketplace.site import queries
from marketplace.site.zone import midnight, viewer_zone
from marketplace.verbs import clock

ROWS_PER_PAGE = 25


def page_of(rows: Any, request: HttpRequest) -> Any:
    """The page that the address asks for, or the nearest."""
    return Paginator(rows, ROWS_PER_PAGE).get_page(request.GET.get("page"))


def kept_query(request: HttpRequest) -> str:
    """The query of the address without its page number, for the links to other pages."""
    query = request.GET.copy()
    query.pop("page", None)
    return query.urlencode() + "&" if query else ""


def contact() -> str:
    """Whom to ask, as a part of a sentence."""
    return settings.MARKETPLACE_CONTACT or _("the people who run this marketplace")


def show(
    request: HttpRequest,
    worker: Worker,
    template: str,
    context: Mapping[str, Any],
    section: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render templates/marketplace/<template>.html for a signed-in worker; `section` marks the link in the bar."""
    now = clock.now()
    day = queries.day_so_far(worker, midnight(now, viewer_zone(request)), now)
    header = {"worker": worker, "section": section, "day": day}
    return render(request, f"marketplace/{template}.html", header | dict(context), status=status)


def csv_file(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> StreamingHttpResponse:
    """A table that people open in a spreadsheet, sent while it is read: it may be long."""
    # Without the byte order mark spreadsheets garble names.
    return StreamingHttpResponse(
        chain(["\ufeff"], csv_lines(columns, rows)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def problem(
    request: HttpRequest, status: int, heading: str, explanation: str, worker: Worker | None = None, **context: Any
) -> HttpResponse:
    """A page that says what happened and what to press."""
    said = {"heading": heading, "explanation": explanation} | context
    if worker is None:
        return render(request, "marketplace/problem.html", said, status=status)
    return show(request, worker, "problem", said, status=status)
