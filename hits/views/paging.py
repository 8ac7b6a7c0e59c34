"""Pages by key: the next page starts after the last id, so page 500 costs what page 1 costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import Model, QuerySet

PAGE_SIZE = 50
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Page(Generic[Row]):
    """`before` and `after` are the ids to page on with; None at the ends."""

    rows: list[Row]
    before: int | None
    after: int | None


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else None


def number(text: str | None) -> int:
    """Of a page that is counted: at least 1, also for what cannot be read."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 6 and int(text) else 1


def by_id(rows: QuerySet[Row], query: Mapping[str, Any], *, newest_first: bool = False) -> Page[Row]:
    """The page that `?after=<id>` or `?before=<id>` names; an unreadable id means the first page."""
    after, before = _number(query.get("after")), _number(query.get("before"))
    backwards = before is not None and after is None
    forward_order, forward_filter = ("-id", "id__lt") if newest_first else ("id", "id__gt")
    back_order, back_filter = ("id", "id__gt") if newest_first else ("-id", "id__lt")
    if backwards:
        found = list(rows.filter(**{back_filter: before}).order_by(back_order)[: PAGE_SIZE + 1])
        more_before, more_after = len(found) > PAGE_SIZE, True
        found = found[:PAGE_SIZE][::-1]
    else:
        chosen = rows if after is None else rows.filter(**{forward_filter: after})
        found = list(chosen.order_by(forward_order)[: PAGE_SIZE + 1])
        more_before, more_after = after is not None, len(found) > PAGE_SIZE
        found = found[:PAGE_SIZE]
    if not found:
        return Page([], None, None)
    return Page(found, found[0].pk if more_before else None, found[-1].pk if more_after else None)
