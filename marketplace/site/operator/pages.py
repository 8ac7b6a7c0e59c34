"""Rendering of the operator's pages."""

import secrets
from collections.abc import Mapping
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import cached_property

from marketplace.site.pages import kept_query

Sorts = Mapping[str, tuple[str, tuple[Any, ...]]]
ROWS_PER_PAGE = 50
MOST_COUNTED = 10_000


def show(
    request: HttpRequest, template: str, context: Mapping[str, Any], section: str = "", status: int = 200
) -> HttpResponse:
    """Render templates/marketplace/operator/<template>.html; `section` marks the link in the bar.

    Each page gets a fresh token for its form, so that sending the form again does nothing twice.
    """
    header = {"main_class": "page operator", "section": section, "form_token": secrets.token_urlsafe(24)}
    return render(request, f"marketplace/operator/{template}.html", header | dict(context), status=status)


def refused(request: HttpRequest, status: int, heading: str, explanation: str) -> HttpResponse:
    """A page that says what happened and what to press."""
    return show(request, "problem", {"heading": heading, "explanation": explanation}, status=status)


def sent_token(request: HttpRequest) -> str:
    """The token of the form that was sent; drawn anew when somebody took it out."""
    return request.POST.get("token", "")[:64] or secrets.token_urlsafe(24)


class _BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts to MOST_COUNTED and no further: a page costs the same however long the list is."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        counted: int = rows[:MOST_COUNTED].count()
        return counted


def page_of(rows: QuerySet[Any], request: HttpRequest, size: int = ROWS_PER_PAGE) -> Any:
    return _BoundedPaginator(rows, size).get_page(request.GET.get("page"))


def paged(rows: QuerySet[Any], request: HttpRequest) -> dict[str, Any]:
    """What a page with one list shows of it: the `page` that the address asks for, the `query` of links to others."""
    return {"page": page_of(rows, request), "query": kept_query(request)}


def searched(rows: QuerySet[Any], request: HttpRequest, sorts: Sorts) -> dict[str, Any]:
    """As `paged`, in the order that the address chooses among `sorts`, with what was searched for."""
    sort = request.GET.get("sort", "")
    sort = sort if sort in sorts else "newest"
    return {
        **paged(rows.order_by(*sorts[sort][1]), request),
        "search": search_words(request),
        "sort": sort,
        "sorts": [(key, label) for key, (label, _) in sorts.items()],
    }


def search_words(request: HttpRequest) -> str:
    return request.GET.get("q", "").strip()[:100]
