"""Queries whose SQL is written once in a process.

Django writes the SQL of a query anew each time, and for the ones that every answer of every worker needs this takes
several times as long as the database takes to find the row. PostgreSQL plans it once a connection too, by its PREPARE:
psycopg2 has no prepared statements of its own.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import QuerySet
from psycopg2.extensions import AsIs

Row = TypeVar("Row")
# What stands for a value while the SQL is written; no query has one of these as a constant.
_EXAMPLES: dict[type, Callable[[int], Any]] = {
    int: lambda number: 2_000_000_000 + number,
    str: lambda number: f"prepared-{number}-value",
    datetime: lambda number: datetime(1999, 9, 9, 9, 9, 9, number + 1, tzinfo=UTC) + timedelta(days=number),
}


# Names of PostgreSQL's prepared statements, and which each connection has: they end with it.
_numbers = count()
_statements: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


class _Written(NamedTuple):
    queryset: Any
    compiler: Any
    sql: str
    # Of each parameter the name of its value, or None and the constant that the query has there.
    params: list[tuple[str | None, Any]]
    # Of PostgreSQL's statement, whose parameters are the values alone.
    statement: str


class Prepared(Generic[Row]):
    """A query that is written once and run with other values: `Prepared(build)(key=3, now=now)` gives its rows.

    `build` makes the queryset of its named values. Each is an int, a str or a datetime, never None, and decides nothing
    about the form of the query. Related objects come as `select_related` says. ValueError when a value stands nowhere
    in the SQL.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Row]]) -> None:
        self._build = build
        self._written: _Written | None = None

    def __call__(self, **values: Any) -> list[Row]:
        if any(isinstance(value, int) and abs(value) >= 2**63 for value in values.values()):
            # No column holds such a number, and the database would refuse it.
            return []
        connection = connections[DEFAULT_DB_ALIAS]
        if self._written is None:
            # Two threads may both write it: each sets the whole at once, and both wrote the same.
            self._written = self._write(connection, values)
        written = self._written
        adapt = connection.ops.adapt_datetimefield_value
        bound = {name: adapt(value) if isinstance(value, datetime) else value for name, value in values.items()}
        if connection.vendor == "postgresql":
            sql = self._execute(connection, written)
            params = tuple(bound[name] for name, _ in written.params if name)
        else:
            sql = written.sql
            params = tuple(bound[name] if name else value for name, value in written.params)
        compiler = copy.copy(written.compiler)
        compiler.connection = connection
        compiler.as_sql = lambda: (sql, params)
        queryset = written.queryset.__class__(written.queryset.model)
        # copy.copy() would run the query: a queryset is pickled with its rows.
        queryset.__dict__.update(written.queryset.__dict__)
        queryset._query = copy.copy(queryset.query)
        queryset._query.get_compiler = lambda *args, **kwargs: compiler
        return list(queryset._iterable_class(queryset))

    def _write(self, connection: Any, values: dict[str, Any]) -> _Written:
        examples = {name: _EXAMPLES[type(value)](number) for number, (name, value) in enumerate(values.items())}
        adapt = connection.ops.adapt_datetimefield_value
        names = {adapt(one) if isinstance(one, datetime) else one: name for name, one in examples.items()}
        queryset = self._build(**examples)
        compiler: Any = queryset.query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        used = [(names.get(value), value) for value in params]
        if missing := set(values) - {name for name, _ in used}:
            raise ValueError(f"The query has no place for {', '.join(sorted(missing))}.")
        return _Written(queryset, compiler, sql, used, f"prepared_{next(_numbers)}")

    def _execute(self, connection: Any, written: _Written) -> str:
        """The SQL that runs PostgreSQL's statement, which this connection has afterwards."""
        connection.ensure_connection()
        known = _statements.setdefault(connection.connection, set())
        if written.statement not in known:
            numbers = count(1)
            # Constants stay constants: they say which partial index serves.
            params = [AsIs(f"${next(numbers)}") if name else value for name, value in written.params]
            with connection.wrap_database_errors, connection.connection.cursor() as cursor:
                cursor.execute(f"PREPARE {written.statement} AS {written.sql}", params)
            known.add(written.statement)
        places = ", ".join("%s" for name, _ in written.params if name)
        return f"EXECUTE {written.statement} ({places})" if places else f"EXECUTE {written.statement}"
