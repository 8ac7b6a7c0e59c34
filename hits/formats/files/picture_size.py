"""Width and height of a picture, in pixels, from its beginning: nothing is decoded."""

from __future__ import annotations

import struct

# Behind this much of metadata, the size of a JPEG is not looked for.
HEAD_BYTES = 512 * 1024
# Markers of frames; the others of their row are tables.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD8)})


def picture_size(head: bytes, content_type: str) -> tuple[int, int] | None:
    """None where it is not found, and for SVG, which has no pixels."""
    readers = {"image/png": _png, "image/gif": _gif, "image/webp": _webp, "image/jpeg": _jpeg}
    try:
        found = readers[content_type](head) if content_type in readers else None
    except (struct.error, IndexError):
        return None
    return found if found and all(found) else None


def _png(head: bytes) -> tuple[int, int]:
    return struct.unpack(">II", head[16:24])


def _gif(head: bytes) -> tuple[int, int] | None:
    """Of the screen and the first image together: browsers make the screen as large as that image."""
    width, height = struct.unpack("<HH", head[6:10])
    at = 13 + (3 << ((head[10] & 7) + 1) if head[10] & 0x80 else 0)
    while head[at] == 0x21:
        at = _behind_extension(head, at)
    if head[at] != 0x2C:
        return None
    left, top, wide, high = struct.unpack("<4H", head[at + 1 : at + 9])
    return max(width, left + wide), max(height, top + high)


def _behind_extension(head: bytes, at: int) -> int:
    """Behind its label it has blocks, each with its length before it; the last one is empty."""
    at += 2
    while head[at]:
        at += 1 + head[at]
    return at + 1


def _webp(head: bytes) -> tuple[int, int] | None:
    if head[12:16] == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if head[12:16] == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if head[12:16] == b"VP8 ":
        width, height = struct.unpack("<HH", head[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg(head: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 < len(head):
        marker = head[at + 1]
        # Programs pass over bytes that are no marker, and then find another frame than would be found here.
        if head[at] != 0xFF or not marker:
            return None
        if marker == 0xFF or marker in _WITHOUT_LENGTH:
            at += 1 if marker == 0xFF else 2
            continue
        if marker in _FRAMES:
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        at += 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    return None
