"""Lists that are paged by key: a page begins after the place of the last row, so page 500 costs what page 1 costs.

What no index holds, such as a word in a text, is looked for among WINDOW rows of the list at most, and among so many
characters. The page says how many rows were looked through, and the next one goes on behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import isfinite
from operator import attrgetter
from typing import Any, Generic, TypeVar

from django.db import transaction
from django.db.models import Model, Q, QuerySet

WINDOW = 20_000
MOST_COUNTED = 1000
MOST_CHARACTERS = 20_000_000
CHUNK = 500
LARGEST_ID = 2**63 - 1
Row = TypeVar("Row", bound=Model)


def counted(rows: QuerySet[Any]) -> str:
    """How many rows there are, for the number beside a filter; beyond MOST_COUNTED “1,000+”, so it costs the same."""
    found = len(rows.order_by().values_list("pk")[: MOST_COUNTED + 1])
    return f"{found:,}" if found <= MOST_COUNTED else f"{MOST_COUNTED:,}+"


def whole(text: str) -> int:
    """Raises ValueError for what is no id."""
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= LARGEST_ID):
        raise ValueError
    return int(text)


def share(text: str) -> float:
    """Raises ValueError for what is no finite number."""
    if not isfinite(value := float(text)):
        raise ValueError
    return value


def moment(text: str) -> datetime:
    """Raises ValueError for what is no point in time with its zone."""
    if (value := datetime.fromisoformat(text)).tzinfo is None:
        raise ValueError
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError from error


@dataclass(frozen=True)
class Place:
    """Where a row stands in its order. Rows with the same value are told apart by their keys."""

    value: Any
    key: int


@dataclass(frozen=True)
class Order:
    """By `field`, and by `key` where it is the same; an index has to hold both. `read` reads a value of the field."""

    field: str = "id"
    key: str = "id"
    falling: bool = False
    read: Callable[[str], Any] = whole

    def turned(self) -> Order:
        return replace(self, falling=not self.falling)

    def sorted(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        sign = "-" if self.falling else ""
        return rows.order_by(*(f"{sign}{name}" for name in dict.fromkeys((self.field, self.key))))

    def between(self, start: Place | None, end: Place | None) -> list[Q]:
        """The conditions for rows behind `start` up to `end` and with it, one after another.

        Each is a range within an index. One condition with "or" would have SQLite walk all rows with the same value.
        """
        behind, until, beyond, within = ("lt", "gte", "lt", "gt") if self.falling else ("gt", "lte", "gt", "lt")
        if self.field == self.key:
            return [self._key(behind, start) & self._key(until, end)]
        if start and end and start.value == end.value:
            return [self._value("exact", start) & self._key(behind, start) & self._key(until, end)]
        first = [self._value("exact", start) & self._key(behind, start)] if start else []
        last = [self._value("exact", end) & self._key(until, end)] if end else []
        return [*first, self._value(beyond, start) & self._value(within, end), *last]

    def _key(self, lookup: str, place: Place | None) -> Q:
        return Q(**{f"{self.key}__{lookup}": place.key}) if place else Q()

    def _value(self, lookup: str, place: Place | None) -> Q:
        return Q(**{f"{self.field}__{lookup}": place.value}) if place else Q()

    def spelled(self, place: Place) -> str:
        """As addresses have it: the key alone where the rows stand by it."""
        value = place.value.isoformat() if isinstance(place.value, datetime) else repr(place.value)
        return str(place.key) if self.field == self.key else f"{value}_{place.key}"

    def placed(self, text: str | None) -> Place | None:
        """What `spelled` wrote; None for anything else."""
        value, _, key = (text or "").rpartition("_")
        try:
            number = whole(key)
            return Place(number if self.field == self.key else self.read(value), number)
        except ValueError:
            return None


@dataclass(frozen=True)
class Search:
    """Reads `columns` of rows, of which `found` says whether they hold what is sought."""

    columns: tuple[Any, ...]
    found: Callable[[Sequence[Any]], bool]


@dataclass(frozen=True)
class Page(Generic[Row]):
    """`before` and `after` are what to page on with, None at the ends.

    `looked` is the number of rows that were looked through, where more are left to be looked through; else None.
    """

    rows: list[Row]
    before: str | None = None
    after: str | None = None
    looked: int | None = None


def page(
    rows: QuerySet[Row],
    order: Order,
    *,
    after: str | None = None,
    before: str | None = None,
    size: int = 50,
    narrow: Q | None = None,
    search: Search | None = None,
) -> Page[Row]:
    """At most `size` of the rows behind `after`, or of those that lie before `before`. A place that cannot be read
    means the first page.

    An index has to give `rows` in their order. `narrow` and `search` are what no index gives.
    """
    start, end = order.placed(after), order.placed(before)
    if start is None and end is not None:
        found = _walked(rows, order.turned(), end, size, narrow, search)
        return Page(found.rows[::-1], before=found.after, after=found.before, looked=found.looked)
    return _walked(rows, order, start, size, narrow, search)


def _walked(
    rows: QuerySet[Row], order: Order, start: Place | None, size: int, narrow: Q | None, search: Search | None
) -> Page[Row]:
    end = None
    if narrow or search:
        # Where more rows follow. An offset that never grows reads that many entries of an index.
        beyond = list(_keys(rows, order, start, None)[WINDOW - 1 : WINDOW + 1])
        end = Place(*beyond[0]) if len(beyond) > 1 else None
    looked = WINDOW if end else None
    chosen = rows.filter(narrow) if narrow else rows
    if search:
        places, cut, read = _searched(_keys(chosen, order, start, end, search.columns), search, size + 1)
        if cut:
            end, looked = cut, read
    else:
        places = [Place(*found) for found in _keys(chosen, order, start, end)[: size + 1]]
    shown = places[:size]
    last = shown[-1] if len(places) > size else end
    found = rows.filter(**{f"{order.key}__in": [place.key for place in shown]})
    by_key = {attrgetter(order.key)(row): row for row in found}
    return Page(
        [by_key[place.key] for place in shown if place.key in by_key],
        before=order.spelled(shown[0]) if shown and start else None,
        after=order.spelled(last) if last else None,
        looked=looked if len(places) <= size else None,
    )


def _keys(
    rows: QuerySet[Any], order: Order, start: Place | None, end: Place | None, columns: Sequence[Any] = ()
) -> QuerySet[Any]:
    """(value, key, *columns) of the rows behind `start` up to `end`, in order, in one query."""
    parts = [
        rows.order_by().filter(part).values_list(order.field, order.key, *columns) for part in order.between(start, end)
    ]
    return order.sorted(parts[0].union(*parts[1:], all=True) if len(parts) > 1 else parts[0])


def _searched(keys: QuerySet[Any], search: Search, most: int) -> tuple[list[Place], Place | None, int]:
    """(the first rows that hold what is sought, where it stopped because of MOST_CHARACTERS, rows looked through)."""
    places: list[Place] = []
    looked = characters = 0
    # Within a transaction PostgreSQL hands the rows over as they are asked for, and keeps no copy of all of them.
    with transaction.atomic():
        for value, key, *texts in keys.iterator(chunk_size=CHUNK):
            looked += 1
            characters += sum(len(text) for text in texts if text)
            if search.found(texts):
                places.append(Place(value, key))
            if len(places) >= most:
                break
            if characters > MOST_CHARACTERS:
                return places, Place(value, key), looked
    return places, None, looked


def walk(rows: Callable[[str | None], Page[Row]]) -> Iterator[list[Row]]:
    """All pages one after another; `rows` gives the page behind a place."""
    after = None
    while True:
        found = rows(after)
        if found.rows:
            yield found.rows
        if (after := found.after) is None:
            return
