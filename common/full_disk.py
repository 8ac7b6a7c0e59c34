"""What a full or broken disk looks like: to SQLite, to PostgreSQL and to whoever writes a file."""

from __future__ import annotations

import errno
from collections.abc import Iterator

SENTENCE = (
    "The disk is full or broken: nothing could be written, and what was saved before is kept. "
    "Make room on the disk, and start it again."
)
_SQLITE = ("database or disk is full", "disk I/O error")
# The server's own disk: disk_full, io_error.
_POSTGRESQL = ("53100", "58030")
_FILES = (errno.ENOSPC, errno.EDQUOT)


def is_full(error: BaseException | None) -> bool:
    """Whether this error, or one that led to it, comes from a disk that takes nothing more."""
    return any(
        (isinstance(each, OSError) and each.errno in _FILES)
        or getattr(each, "pgcode", None) in _POSTGRESQL
        or str(each) in _SQLITE
        for each in _chain(error)
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
