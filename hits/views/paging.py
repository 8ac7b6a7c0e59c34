"""Pages of lists: `?after=` and `?before=` name the place at which one begins or ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from hits.core import keyset
from hits.core.keyset import Order, Page

PAGE_SIZE = 50
Row = TypeVar("Row", bound=Model)


def id_of(text: str | None) -> int | None:
    """None for what is no id."""
    try:
        return keyset.whole(text or "")
    except ValueError:
        return None


def number(text: str | None) -> int:
    """Of a page that is counted: at least 1, also for what cannot be read."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 6 and int(text) else 1


def places(query: Mapping[str, Any]) -> dict[str, Any]:
    """Of an address, as `keyset.page` takes them; what cannot be read means the first page."""
    return {"after": query.get("after"), "before": query.get("before"), "size": PAGE_SIZE}


def by_id(rows: QuerySet[Row], query: Mapping[str, Any], *, newest_first: bool = False) -> Page[Row]:
    """The page that the address names."""
    return keyset.page(rows, Order(falling=newest_first), **places(query))
