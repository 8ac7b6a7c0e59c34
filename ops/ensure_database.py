"""Create PostgreSQL databases that are missing: `python -m ops.ensure_database URL ...`. Other URLs are left alone."""

from __future__ import annotations

import sys
from urllib.parse import unquote, urlsplit

import psycopg2
from psycopg2 import errors, sql

SCHEMES = ("postgres", "postgresql")


def ensure(url: str) -> bool:
    """True when the database was created. Raises psycopg2.Error when the server refuses."""
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES:
        return False
    try:
        psycopg2.connect(url).close()
        return False
    except psycopg2.OperationalError as error:
        if "does not exist" not in str(error):
            raise
    return _create(parts._replace(path="/postgres").geturl(), unquote(parts.path.strip("/")))


def drop(url: str) -> None:
    """Drop the database, its users thrown out."""
    parts = urlsplit(url)
    _execute(
        parts._replace(path="/postgres").geturl(), "DROP DATABASE IF EXISTS {} WITH (FORCE)", parts.path.strip("/")
    )


def _create(server: str, name: str) -> bool:
    try:
        _execute(server, "CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0", name)
    except (errors.DuplicateDatabase, errors.UniqueViolation):  # another process was faster
        return False
    return True


def _execute(server: str, statement: str, name: str) -> None:
    connection = psycopg2.connect(server)
    try:
        connection.autocommit = True  # PostgreSQL creates and drops databases outside transactions only
        with connection.cursor() as cursor:
            cursor.execute(sql.SQL(statement).format(sql.Identifier(name)))
    finally:
        connection.close()


if __name__ == "__main__":
    for given in sys.argv[1:]:
        if ensure(given):
            print(f"Created the database {urlsplit(given).path.strip('/')}.")
