"""Whether the tables of the database are those that this code can run on.

A database that lacks a migration of the code is behind. One that has migrations which the code does not know is ahead:
the code runs on all the same, as it must while programs are exchanged one after the other, unless one of them takes
away what the code needs. Those are named so: `0061_contract_...`. docs/operating.md has the policy.
"""

from __future__ import annotations

import re
import sys

from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader

CONTRACT = re.compile(r"\d+_contract(_|$)")


def fault() -> str:
    """Why this program must not go on with its database, as a sentence that says what to do; empty: it may.

    A database that does not answer is no fault: it may come back.
    """
    try:
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
