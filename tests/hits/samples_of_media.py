"""Small pictures, sounds and archives, made here: nothing of them is stored in the repository."""

from __future__ import annotations

import io
import struct
import wave
import zipfile
import zlib
from collections.abc import Mapping

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30" fill="teal"/></svg>'


def png(width: int = 4, height: int = 3, colour: tuple[int, int, int] = (20, 120, 130)) -> bytes:
    row = b"\0" + bytes(colour) * width
    packer = zlib.compressobj(1)
    pixels = b"".join([*(packer.compress(row) for _ in range(height)), packer.flush()])
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _png_part(b"IHDR", head) + _png_part(b"IDAT", pixels) + _png_part(b"IEND", b"")


def _png_part(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def wav(seconds: float = 0.1, rate: int = 8000) -> bytes:
    """A saw, at one byte a sample: no two places of a second are alike."""
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(rate)
        one = bytes(n % 251 for n in range(rate))
        file.writeframes((one * int(seconds + 1))[: int(seconds * rate)])
    return made.getvalue()


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()
