"""Lists and single rows that are read: declared once, for the API and for pages, as JSON and as CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from hits.core import keyset, roles
from hits.core.targets import Target

Shape = type[serializers.Serializer[Any]]
REGISTRY: dict[str, List | Reading] = {}
CHUNK = 500


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One row as the API answers it, at the address of `on`, or what is worked out of it, behind that address.

    `query` is the shape of the query string, whose values `read` takes with the row and the role; without `read` it is
    the row. `many`: it answers a list of these, which is short. `heavy`: it is braked harder. `by` is the name of the
    verb whose role reads it; empty: each role. Both may raise Http404 and RoleRefusedError.
    """

    name: str
    summary: str
    tag: str
    on: Target[Any]
    gives: Shape
    route: str = ""
    query: Shape | None = None
    read: Callable[..., Any] | None = None
    many: bool = False
    heavy: bool = False
    by: str = ""

    @property
    def path(self) -> str:
        return self.on.path + self.route


@dataclass(frozen=True, kw_only=True)
class List:
    """Rows below a project or another row, by id.

    `path` is behind the project's address. `rows` takes the row of `on` and gives a queryset; `filters` is a
    shape whose fields are columns. `gives` is the shape of a row, whose fields are the columns of the CSV
    too. `refuses` are statuses of what `rows` raises.
    """

    name: str
    summary: str
    tag: str
    on: Target[Any]
    path: str
    gives: Shape
    rows: Callable[[Any], QuerySet[Any]]
    filters: Shape | None = None
    newest_first: bool = False
    refuses: tuple[int, ...] = ()

    def filtered(self, row: Any, values: Mapping[str, Any]) -> QuerySet[Any]:
        """Those whose columns have these values; an empty value, or one that the field refuses, filters nothing."""
        rows = self.rows(row)
        for name, field in self.filters().fields.items() if self.filters else ():
            if values.get(name):
                with suppress(serializers.ValidationError):
                    rows = rows.filter(**{name: field.run_validation(values[name])})
        return rows

    def choices(self, row: Any, name: str, all_of_them: str = "All") -> list[tuple[str, str, str]]:
        """(value, label, number of rows) of each value of a filter, for links above a table; all of them first."""
        assert self.filters
        choices = {"": all_of_them, **self.filters().fields[name].choices}  # type: ignore[attr-defined]
        return [(value, label, keyset.counted(self.filtered(row, {name: value}))) for value, label in choices.items()]

    def table(self, row: Any, values: Mapping[str, Any], context: Mapping[str, Any]) -> Iterator[list[Any]]:
        """The head and the rows of the CSV, read in pieces."""
        names = list(self.gives().fields)
        # Before the head, so that whoever may not read them is refused.
        rows = self.filtered(row, values).order_by("-id" if self.newest_first else "id")
        yield names
        for one in rows.iterator(chunk_size=CHUNK):
            shown = self.gives(one, context=dict(context)).data
            yield [", ".join(map(str, value)) if isinstance(value, list) else value
                   for value in (shown[name] for name in names)]  # fmt: skip


def reading(name: str, summary: str, **options: Any) -> None:
    """Declare how one row is read."""
    _register(Reading(name=name, summary=summary, **options))


def listing(name: str, summary: str, *, route: str, **options: Any) -> List:
    """Declare a list. `route` is the address behind that of `on`."""
    found = List(name=name, summary=summary, path=options["on"].path + route, **options)
    _register(found)
    roles.declare(roles.EXPORT, f"{name}.csv")
    return found


def _register(found: List | Reading) -> None:
    if found.name in REGISTRY:
        raise ValueError(f"Two lists are called {found.name}.")
    REGISTRY[found.name] = found
