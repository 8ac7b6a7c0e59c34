"""How long PostgreSQL may take for a connection, a statement and a transaction at rest, and what it was that ended.

Nothing is limited but the wait for a connection until a process says what it is: pages have short limits, jobs long
ones, commands such as migrations and backups none. SQLite has its own wait for a lock in the settings.
"""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.db import InterfaceError, OperationalError, connections

from common import full_disk

POSTGRESQL: Final = "django.db.backends.postgresql"
TOO_LONG: Final = "too_long"
BUSY: Final = "busy"
AWAY: Final = "away"
FULL: Final = "full"
_CANCELLED = "57014"
# A lock that is not to be had, or two transactions that wait for each other.
_LOCKS = ("55P03", "40P01", "40001")
# The server ends or begins, has no connection left, or closed one that rested inside a transaction.
_ENDED = ("57P01", "57P02", "57P03", "53300", "25P03")
# Without IMMEDIATE, a transaction that reads before it writes fails under concurrency however long it waits.
SQLITE_OPTIONS: Final = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
}


# A page's statement ends before the visitor and the proxy have left, and so does its transaction at rest.
CONNECT_SECONDS: Final = 10
STATEMENT_SECONDS: Final = 25
IDLE_SECONDS: Final = 60


def wait_for_connection(config: Any) -> None:
    """Bound the wait for a connection, in an entry of DATABASES; what its address says wins."""
    if config["ENGINE"] == POSTGRESQL:
        config.setdefault("OPTIONS", {}).setdefault("connect_timeout", CONNECT_SECONDS)


def bound_this_process(*, statement: int, idle: int) -> None:
    """Seconds for one statement and for a transaction at rest. Before the first connection is made."""
    for config in connections.settings.values():
        if config["ENGINE"] == POSTGRESQL:
            options = config.setdefault("OPTIONS", {})
            bounds = f"-c statement_timeout={statement * 1000} -c idle_in_transaction_session_timeout={idle * 1000}"
            options["options"] = f"{options.get('options', '')} {bounds}".strip()


def bound_pages() -> None:
    """This process answers requests."""
    bound_this_process(statement=STATEMENT_SECONDS, idle=IDLE_SECONDS)


def bound_jobs() -> None:
    """This process works in the background."""
    bound_this_process(statement=settings.DATABASE_JOB_SECONDS, idle=settings.DATABASE_JOB_SECONDS)


def why(error: BaseException | None) -> str:
    """TOO_LONG, BUSY, AWAY or FULL; empty for an error that says something about the code or the data."""
    if full_disk.is_full(error):
        return FULL
    if not isinstance(error, OperationalError | InterfaceError):
        return ""
    cause = error.__cause__
    state = _state(cause)
    if state == _CANCELLED:
        return TOO_LONG
    if state in _LOCKS or "database is locked" in str(error):
        return BUSY
    # The driver gives no state where no server has answered.
    is_lost = state is None and type(cause).__module__.startswith("psycopg")
    if state in _ENDED or str(state or "").startswith("08") or is_lost:
        return AWAY
    return ""


def _state(cause: BaseException | None) -> str | None:
    return getattr(cause, "pgcode", None) or getattr(cause, "sqlstate", None)
