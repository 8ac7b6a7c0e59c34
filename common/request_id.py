"""The id by which one request is followed: through the lines of the log, jobs, and calls to the other side.

It comes with the request where a proxy or the caller gave one, and is made up otherwise. It decides nothing.
"""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Also the name of the field by which a task's page hands the id on with its answer: a form can set no header.
HEADER = "X-Request-ID"
# It comes from strangers and stands in logs: no spaces, no line breaks, no quotes.
_SHAPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}", re.ASCII)
_current: ContextVar[str] = ContextVar("request_id", default="")


def current() -> str:
    """The id that whatever runs here belongs to; empty outside of requests and jobs."""
    return _current.get()


def usable(value: object) -> str:
    """The value where it can be an id, else nothing."""
    return value if isinstance(value, str) and _SHAPE.fullmatch(value) else ""


@contextmanager
def under(value: object = "") -> Iterator[str]:
    """Run the block under this id, or under a new one where it is none."""
    token = _current.set(usable(value) or uuid.uuid4().hex)
    try:
        yield current()
    finally:
        _current.reset(token)


def follow(value: object) -> None:
    """Go on under the id of an earlier request that this one belongs to, where it is one."""
    if known := usable(value):
        _current.set(known)


class AddRequestId(logging.Filter):
    """Gives each record `request_id`, unless its author did."""

    def filter(self, record: logging.LogRecord) -> bool:
        # Django writes of a refusal when the request is over.
        known = current() or getattr(getattr(record, "request", None), "request_id", "")
        if known and not hasattr(record, "request_id"):
            record.request_id = known
        return True
