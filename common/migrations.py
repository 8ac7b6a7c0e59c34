"""Whether the tables of the database are those that this code can run on.

A database that lacks a migration of the code is behind. One that has migrations which the code does not know is ahead:
the code runs on all the same, as it must while programs are exchanged one after the other, unless one of them takes
away what the code needs. Those are named so: `0061_contract_...`. One that has only some of the migrations that
one of this code stands for was left by a version that this code has no migrations for. docs/operating.md has the
policy.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Sequence
from typing import Any

from django.core.checks import Error
from django.db import DatabaseError, connection, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

CONTRACT = re.compile(r"\d+_contract(_|$)")
# The last version that had each of the migrations for which one stands now.
OLDEST = "0.3.0"
TOO_OLD = (
    f"This database was left by a version before {OLDEST}. "
    f"Install {OLDEST}, migrate with it, then install this version."
)


def known_migrations() -> set[tuple[str, str]]:
    """App and name of the migrations of this code, and of those for which one of them stands."""
    loader = MigrationLoader(None)
    return {*(loader.disk_migrations or {}), *(key for one in loader.replacements.values() for key in one.replaces)}


def is_before_oldest(applied: Collection[tuple[str, str]]) -> bool:
    """Whether some, not all, are applied of those for which one stands now and which are gone from this code."""
    loader = MigrationLoader(None)
    gone = [set(one.replaces).difference(loader.disk_migrations or {}) for one in loader.replacements.values()]
    return any(0 < len(keys.intersection(applied)) < len(keys) for keys in gone)


def check_age(databases: Sequence[str] | None = None, **_: Any) -> list[Error]:
    """A system check for `migrate`: from a database that is too old it would find no way to this code."""
    applied = (MigrationRecorder(connections[alias]).applied_migrations() for alias in databases or ())
    return [Error(TOO_OLD, id="migrations.E001") for keys in applied if is_before_oldest(keys)]


def fault() -> str:
    """Why this program must not go on with its database, as a sentence that says what to do; empty: it may.

    A database that does not answer is no fault: it may come back.
    """
    try:
        if is_before_oldest(MigrationRecorder(connection).applied_migrations()):
            return TOO_OLD
        loader = MigrationLoader(connection)
        tables = set(connection.introspection.table_names()) - {"django_migrations"}
    except DatabaseError:
        return ""
    if tables and not loader.applied_migrations:
        # Made from the models at once, as in tests: nobody wrote down how.
        return ""
    there, known = set(loader.applied_migrations or {}), set(loader.disk_migrations or {})
    replaced = {key for keys in loader.replacements.values() for key in keys.replaces}
    ours = {app for app, _ in known}
    if missing := sorted(known - there - replaced):
        count = f"{len(missing)} migrations are" if len(missing) > 1 else "a migration is"
        return f"The database is behind this code: {count} missing, such as {'.'.join(missing[0])}. Run migrate first."
    taken = sorted(key for key in there - known if key[0] in ours and CONTRACT.match(key[1]))
    if taken:
        return (
            f"The database is ahead of this code, which needs what {'.'.join(taken[0])} took away. "
            "Install the version that brought it."
        )
    return ""


def exit_on_fault() -> None:
    """For a program at its start: ends it with the sentence and status 3."""
    if said := fault():
        print(said, file=sys.stderr, flush=True)
        sys.exit(3)
