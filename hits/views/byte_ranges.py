"""Which part of a file a request asks for: one range of bytes, as RFC 9110 says it."""

from __future__ import annotations

import re

_ONE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


def byte_range(header: str, size: int, most: int) -> tuple[int, int] | None:
    """Where the part begins, and before which byte it ends; None for the whole file.

    What is no range, and several ranges at once, are answered with the whole file. Of a range without an end at most
    `most` bytes are sent: players ask so for all that follows, take what they need now and ask again.
    Raises ValueError for a range that begins behind the end of the file.
    """
    found = _ONE.fullmatch(header.strip())
    if not found or found[1] == found[2] == "":
        return None
    first, last = found[1], found[2]
    if not first:
        start, end = max(size - int(last), 0), size
    elif not last:
        start, end = int(first), min(int(first) + most, size)
    elif int(last) < int(first):
        return None
    else:
        start, end = int(first), min(int(last) + 1, size)
    if start >= size or start >= end:
        raise ValueError("The range begins behind the end of the file.")
    return start, end
