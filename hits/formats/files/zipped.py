"""A zip archive that is written piece by piece: neither a file nor the archive is ever whole in memory."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator

# The same files give the same bytes; no archive can say an earlier day.
_DAY = (1980, 1, 1, 0, 0, 0)
_AT_ONCE = 1 << 16


class _Pieces:
    """A file that cannot be sought in and hands over what was written to it."""

    def __init__(self) -> None:
        self._written: list[bytes] = []
        self.size = 0

    def write(self, content: bytes) -> int:
        self._written.append(bytes(content))
        self.size += len(content)
        return len(content)

    def flush(self) -> None:
        """Nothing waits."""

    def taken(self) -> bytes:
        content = b"".join(self._written)
        self._written, self.size = [], 0
        return content


def stream(files: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
    """The archive of (name, the content in pieces), in their order."""
    pieces = _Pieces()
    with zipfile.ZipFile(pieces, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:  # type: ignore[call-overload]
        for name, content in files:
            entry = zipfile.ZipInfo(name, _DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as file:
                for piece in content:
                    file.write(piece)
                    if pieces.size > _AT_ONCE:
                        yield pieces.taken()
    yield pieces.taken()
