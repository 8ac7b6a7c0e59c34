"""What happens when the code of a task or recipe fails on one row: it is logged, the row says so, the rest goes on."""

from __future__ import annotations

import logging

from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError

log = logging.getLogger(__name__)

# The database is busy or away, or the time of the job is over: that says nothing about a row, and whoever works at it
# tries again or says so.
PASSING = (OperationalError, InterfaceError, SoftTimeLimitExceeded)
LONGEST = 300
# Sentences of rows that failed begin so, each in its column.
UNREAD = "This answer could not be read, through no fault of the worker"
UNJUDGED = "Its answers could not be judged"
NOT_ADVANCED = "What its verdict leads to could not be made"


def note(error: Exception, what: str) -> str:
    """Log the traceback under `what`, such as "assignment 3ABC"; returns the error in a form that every table keeps.

    Raises the error itself where it is one that passes.
    """
    if isinstance(error, PASSING):
        raise error
    log.error("The code of a task or recipe failed on %s", what, exc_info=error)
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    # Neither half a surrogate pair nor the character NUL can be stored.
    clean = text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
    return clean if len(clean) <= LONGEST else f"{clean[: LONGEST - 1]}…"


def not_advanced(error: Exception, what: str, before: str) -> str:
    """`before` is what the row said so far: it is tried again and again, and logged once."""
    if isinstance(error, PASSING):
        raise error
    told = before.startswith(NOT_ADVANCED)
    return before if told else f"{NOT_ADVANCED}: {note(error, what)}. It is tried again by itself; the log tells more."


def unread(error: Exception, what: str) -> str:
    return f"{UNREAD}: {note(error, what)}. It counts for nothing; the log tells more."


def unjudged(error: Exception, what: str) -> str:
    return f"{UNJUDGED}: {note(error, what)}. They are judged again with the next answer; the log tells more."
