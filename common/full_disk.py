"""What a full or broken disk looks like: to SQLite, to PostgreSQL and to whoever writes a file."""

from __future__ import annotations

import errno

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
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FILES:
            return True
        if getattr(error, "pgcode", None) in _POSTGRESQL or str(error) in _SQLITE:
            return True
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return False
