"""Many rows for a measurement, made by the database itself: copies of one row, each with values of its own."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import connection
from django.db.models import Model

# Of the number of a copy, from 1.
NUMBER = "series.n"


def copies(row: Model, count: int, **columns: str) -> int:
    """`count` copies of the row. `columns` are SQL expressions, in which NUMBER counts the copies and `row` is the one
    that is copied. Returns the largest id before them: copy n has that id plus n.
    """
    table = type(row)._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT MAX(id) FROM {table}")  # noqa: S608
        (before,) = cursor.fetchone()
        own: Mapping[str, str] = {**columns, "id": f"{before} + {NUMBER}"}
        names = [field.column for field in type(row)._meta.concrete_fields if field.column]
        values = ", ".join(own.get(name, f'"row"."{name}"') for name in names)
        quoted = ", ".join(f'"{name}"' for name in names)
        series = f"WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < {int(count)})"
        source = f'SELECT {values} FROM series, {table} AS "row" WHERE "row".id = {int(row.pk)}'  # noqa: S608
        # Without parameters, so that a `%` of the expressions is one of SQL.
        cursor.execute(f"{series} INSERT INTO {table} ({quoted}) {source}")
        if connection.vendor == "postgresql":
            cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {before + count})")
    return int(before)


def vacuumed() -> None:
    """As the database does by itself a minute later."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
