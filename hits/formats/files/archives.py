"""ZIP archives that come in: opened only when their list of files is bounded, and unpacked file by file."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import BinaryIO

from hits.formats.files.faults import Fault, FormatErrors

BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06")
BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError)
_BYTES_A_LISTED_FILE = 300
# The end of an archive, and with it the longest comment that it may have and the note before it that its list is long.
_END = 22
_NOTE = 20
_TAIL = _NOTE + _END + 65_535
_WITH_PASSWORD = 1


def opened(stream: BinaryIO, place: str, most_files: int) -> zipfile.ZipFile:
    """The archive at a place. Raises FormatErrors for one that cannot be read or that lists more files."""
    check_directory(stream, place, most_files)
    try:
        archive = zipfile.ZipFile(stream)
    except BROKEN as error:
        message = f"is no ZIP archive that can be read ({error}): pack it anew"
        raise FormatErrors([Fault(None, place, message)]) from error
    if len(archive.infolist()) > most_files:
        raise FormatErrors([Fault(None, place, _too_many_files(most_files))])
    return archive


def check_directory(stream: BinaryIO, place: str, most_files: int) -> None:
    """The library reads the list of an archive's files as a whole: one that is made to be long is refused before."""
    at, size = stream.tell(), size_of(stream)
    stream.seek(at + max(0, size - _TAIL))
    tail = stream.read(_TAIL)
    stream.seek(at)
    # The library takes an end without a comment first, then the last one; what looks like one may stand within it.
    for found in (len(tail) - _END, tail.rfind(b"PK\x05\x06")):
        if 0 <= found <= len(tail) - _END and tail.startswith(b"PK\x05\x06", found):
            (length,) = struct.unpack_from("<L", tail, found + 12)
            noted = found >= _NOTE and tail.startswith(b"PK\x06\x07", found - _NOTE)
            if noted or length > most_files * _BYTES_A_LISTED_FILE:
                raise FormatErrors([Fault(None, place, _too_many_files(most_files))])


def not_unpacked(member: zipfile.ZipInfo) -> str:
    """Why a file of an archive is not read; empty where it is."""
    if member.flag_bits & _WITH_PASSWORD:
        return "is packed with a password: pack it anew without one"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # Of the others the library unpacks everything at once, however much it is.
        return "is packed in a way that is not read: pack it anew as a usual ZIP archive (deflate)"
    return ""


def size_of(stream: BinaryIO) -> int:
    """The bytes from where the stream stands, which it does after this too."""
    at = stream.tell()
    size = stream.seek(0, io.SEEK_END) - at
    stream.seek(at)
    return size


def _too_many_files(most_files: int) -> str:
    return f"the archive holds more than {most_files:,} files: split it into several archives"
