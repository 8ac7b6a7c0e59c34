"""What PostgreSQL ends is told by name, and a process has the limits that it asked for."""

from __future__ import annotations

import pytest
from django.db import OperationalError, ProgrammingError, connection, connections
from django.db.backends.postgresql.base import DatabaseWrapper

from common import database_limits


@pytest.mark.on_postgresql
@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no limit of a statement")
def test_a_statement_and_a_transaction_at_rest_end_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connections.settings["default"], "OPTIONS", {})
    database_limits.bound_this_process(statement=1, idle=7)
    other = connections.create_connection("default")
    try:
        with other.cursor() as cursor:
            cursor.execute("SHOW idle_in_transaction_session_timeout")
            assert cursor.fetchone() == ("7s",)
            with pytest.raises(OperationalError) as ended:
                cursor.execute("SELECT pg_sleep(5)")
    finally:
        other.close()
    assert database_limits.why(ended.value) == database_limits.TOO_LONG


@pytest.mark.django_db
def test_a_server_that_does_not_answer_is_told_from_a_fault_of_the_code() -> None:
    nobody = {**connections.settings["default"], "ENGINE": database_limits.POSTGRESQL, "OPTIONS": {}}
    database_limits.wait_for_connection(nobody)
    assert nobody["OPTIONS"] == {"connect_timeout": database_limits.CONNECT_SECONDS}
    with pytest.raises(OperationalError) as away:
        DatabaseWrapper({**nobody, "HOST": "127.0.0.1", "PORT": "1", "NAME": "x"}).ensure_connection()
    assert database_limits.why(away.value) == database_limits.AWAY
    assert database_limits.why(OperationalError("database is locked")) == database_limits.BUSY
    for other in (OperationalError("no such table: x"), ProgrammingError("x"), ValueError("x")):
        assert database_limits.why(other) == ""
