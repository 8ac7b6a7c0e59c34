"""What is said when the database has ended a request: what happened, and what to do next."""

from __future__ import annotations

from common import database_limits


def sentences(what: str) -> tuple[str, str]:
    """Of one of the words of `common.database_limits.why`."""
    if what == database_limits.TOO_LONG:
        return (
            f"The database needed more than {database_limits.STATEMENT_SECONDS} seconds for one question, so it was "
            "stopped. Nothing was changed.",
            "Ask for less, as with a filter or a single stage, or try again when fewer people work here. If it stays, "
            "tell the people who run this service.",
        )
    if what == database_limits.BUSY:
        return "The database was busy with somebody else's change. Nothing was changed.", "Try again in a minute."
    if what == database_limits.FULL:
        return (
            "The disk of this service is full or broken, so nothing can be saved. What you had saved is kept.",
            "Tell the people who run this service, and try again when they have made room.",
        )
    return (
        "The database does not answer. What you had saved is kept.",
        "Try again in a minute; if it stays, tell the people who run this service.",
    )


def code(what: str) -> str:
    """The stable word for programs."""
    return "disk_full" if what == database_limits.FULL else f"database_{what}"
