"""Makes the emptying of tables between tests quick.

Each time Django would look through all models for permissions and content types, which nothing of either project reads:
ten times the work of the emptying itself. What the marketplace fills its own tables with stays.

On PostgreSQL tables are emptied by DELETE, and nobody waits for the disk. For a few rows DELETE is many times quicker
than TRUNCATE, which gives every table and every index a new file. Foreign keys are not looked at meanwhile, which only
a superuser may ask for; for anybody else Django's own way stays. Of what a commit promises, only that it outlives a
loss of power is given up.
"""

from typing import Any

import pytest
from django.contrib.auth.management import create_permissions
from django.contrib.contenttypes.management import create_contenttypes
from django.db import connection
from django.db.models.signals import post_migrate

# As django.contrib.auth connects it.
_PERMISSIONS = "django.contrib.auth.management.create_permissions"


@pytest.fixture(scope="session", autouse=True)
def quick_flush(django_db_setup: None, django_db_blocker: Any) -> None:
    post_migrate.disconnect(create_permissions, dispatch_uid=_PERMISSIONS)
    post_migrate.disconnect(create_contenttypes)
    if connection.vendor != "postgresql":
        return
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        (superuser,) = cursor.fetchone()
        # For the connections of threads and servers, and for this one.
        name = connection.ops.quote_name(connection.settings_dict["NAME"])
        cursor.execute(f"ALTER DATABASE {name} SET synchronous_commit TO off")
        cursor.execute("SET synchronous_commit TO off")
    if superuser:
        type(connection.ops).sql_flush = _sql_flush  # type: ignore[method-assign]


def _sql_flush(
    self: Any, style: Any, tables: list[str], *, reset_sequences: bool = False, allow_cascade: bool = False
) -> list[str]:
    if reset_sequences:
        raise NotImplementedError("a test that asks for reset sequences needs TRUNCATE")
    deletes = [f"DELETE FROM {self.quote_name(table)}" for table in tables]
    return ["SET LOCAL session_replication_role = replica", *deletes]
