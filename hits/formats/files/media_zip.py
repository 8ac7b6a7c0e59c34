"""A zip of pictures, sounds and videos, read with every fault at once and with bounds for all that it could grow to.

Nothing is unpacked to the disk: files are read from the archive, piece by piece. What a Mac adds to each archive
(`__MACOSX`, `.DS_Store`), what Windows keeps beside pictures (`Thumbs.db`) and folders are passed over.
"""

from __future__ import annotations

import hashlib
import io
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from tempfile import TemporaryFile
from typing import BinaryIO

from common.names import hidden_sign
from hits.formats.files import svg
from hits.formats.files.faults import Fault, Faults, FormatErrors
from hits.formats.files.media import HEAD_BYTES, SVG, TAKEN, media_type
from hits.formats.files.picture_size import HEAD_BYTES as PICTURE_HEAD_BYTES
from hits.formats.files.picture_size import picture_size

MOST_FILES = 5000
MOST_FILE_BYTES = 256 * 1024 * 1024
MOST_UNPACKED_BYTES = 2 * 1024 * 1024 * 1024
# Media hardly get smaller in an archive. One that unpacks to more than this, and to so many times its size, has none.
UNSUSPECTED_BYTES = 128 * 1024 * 1024
MOST_RATIO = 50
# A worker's browser needs four bytes of memory for each pixel of a picture.
MOST_PIXELS = 100_000_000
LONGEST_NAME = 200
MOST_FOLDERS = 10
PIECE = 1 << 20
# Of the files with one fault, as many are named.
NAMED = 5
# The list of an archive is read as a whole: at most about this much for each file.
_LISTED_BYTES = 1000
_END, _END_BYTES = b"PK\x05\x06", 22
# Stands before the end of an archive that needs 64 bits to say where its list is.
_LOCATOR, _LOCATOR_BYTES = b"PK\x06\x07", 20
_MOST_COMMENT = 1 << 16
_PASSED_OVER = frozenset({".ds_store", "thumbs.db", "desktop.ini"})
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, struct.error)

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Entry:
    """A file of the archive that can be taken. Width and height are 0 where they are not known."""

    name: str
    content_type: str
    sha256: str
    width: int
    height: int
    info: zipfile.ZipInfo


@dataclass(frozen=True)
class MediaZip:
    """An archive in which nothing is wrong."""

    archive: zipfile.ZipFile
    entries: list[Entry]

    @contextmanager
    def opened(self, entry: Entry) -> Iterator[BinaryIO]:
        with self.archive.open(entry.info) as stream:
            yield stream  # type: ignore[misc]


class NamedFaults:
    """Faults of files: what is wrong with many of them is said once, with the first of their names."""

    def __init__(self) -> None:
        self._names: dict[str, list[str]] = {}

    def add(self, name: str, message: str) -> None:
        self._names.setdefault(message, []).append(name)

    def refuse(self) -> None:
        """Raises FormatErrors if a fault was added."""
        found = Faults()
        for message, names in self._names.items():
            more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
            found.add(None, ", ".join(names[:NAMED]) + more, message)
        found.refuse()


def plain_name(name: str) -> str:
    """As names of files are compared: some programs write é as two characters."""
    return unicodedata.normalize("NFC", name)


@contextmanager
def read(stream: BinaryIO, progress: Progress = lambda done: None) -> Iterator[MediaZip]:
    """Raises FormatErrors with every fault. `progress` is called with the number of files read so far."""
    _refuse_long_list(stream)
    try:
        archive = zipfile.ZipFile(stream)
    except (*_BROKEN, ValueError, UnicodeDecodeError) as error:
        raise FormatErrors([Fault(None, "", f"the file is no zip archive that can be read: {error}")]) from error
    with archive:
        infos = _wanted(archive)
        _refuse_totals(infos)
        faults = NamedFaults()
        entries = []
        for done, info in enumerate(infos):
            progress(done)
            if entry := _entry(archive, info, faults):
                entries.append(entry)
        _check_names(entries, faults)
        faults.refuse()
        yield MediaZip(archive, entries)


def _refuse_long_list(stream: BinaryIO) -> None:
    """The library reads the whole list into memory before it says how many files are in it."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - _LOCATOR_BYTES - _END_BYTES - _MOST_COMMENT))
    tail = stream.read()
    stream.seek(0)
    if (at := _end_of(tail)) < 0:
        return
    if tail[max(0, at - _LOCATOR_BYTES) : at].startswith(_LOCATOR):
        raise _refusal(
            "the archive is of the kind for very many or very large files (Zip64): split it, or pack it anew"
        )
    if int.from_bytes(tail[at + 12 : at + 16], "little") > 2 * MOST_FILES * _LISTED_BYTES:
        raise _refusal(f"the archive lists far more than {MOST_FILES:,} files: split it")


def _end_of(tail: bytes) -> int:
    """Where the library finds the end record: without a comment if it can be, for its own bytes may hold the mark."""
    last = len(tail) - _END_BYTES
    is_plain = last >= 0 and tail.startswith(_END, last) and tail.endswith(b"\0\0")
    return last if is_plain else tail.rfind(_END)


def _wanted(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    infos = []
    for info in archive.infolist():
        *folders, name = info.filename.split("/")
        # `is_dir` fails at an empty name, which only a broken archive has.
        is_folder = folders and not name
        passed_over = "__MACOSX" in (*folders, name) or name.lower() in _PASSED_OVER or name.startswith("._")
        if not is_folder and not passed_over:
            infos.append(info)
    if not infos:
        raise _refusal("the archive holds no file")
    if len(infos) > MOST_FILES:
        raise _refusal(f"the archive holds {len(infos):,} files; at most {MOST_FILES:,} are taken at once: split it")
    return infos


def _refuse_totals(infos: list[zipfile.ZipInfo]) -> None:
    """By the sizes that the archive states; while a file is read, more than it states is refused."""
    size, packed = sum(info.file_size for info in infos), sum(info.compress_size for info in infos)
    if size > MOST_UNPACKED_BYTES:
        raise _refusal(
            f"the files have {size / 1e6:,.0f} MB unpacked; at most {MOST_UNPACKED_BYTES / 1e6:,.0f} MB are taken at "
            "once: split the archive"
        )
    if size > UNSUSPECTED_BYTES and size > MOST_RATIO * packed:
        raise _refusal(f"the archive unpacks to {size // max(packed, 1):,} times its size, as no media do")


def _refusal(message: str) -> FormatErrors:
    return FormatErrors([Fault(None, "", message)])


def _entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, faults: NamedFaults) -> Entry | None:
    """None for a file with a fault."""
    name = plain_name(info.filename)
    found = list(_name_faults(info)) or list(_listed_faults(info))
    if not found:
        try:
            return _read(archive, info, name)
        except _BROKEN as error:
            found = [f"cannot be unpacked: {error}"]
        except ValueError as error:
            found = [str(error)]
    for message in found:
        faults.add(_shown(name), message)
    return None


def _shown(name: str) -> str:
    """Whatever a name holds can be read in a list of faults."""
    told = "".join(sign if sign.isprintable() else "�" for sign in name)
    return told if len(told) <= LONGEST_NAME else f"{told[:LONGEST_NAME]}…"


def _name_faults(info: zipfile.ZipInfo) -> Iterator[str]:
    # `filename` ends at the first NUL, and the one behind it is what the archive holds.
    # One that is too long only as it is kept is too long.
    name = plain_name(info.orig_filename)
    parts = name.split("/")
    if len(name) > LONGEST_NAME:
        yield f"has a name of more than {LONGEST_NAME} characters"
    if code := hidden_sign(name):
        yield f"has a name with a sign that cannot be seen ({code})"
    if "\\" in name or ":" in name:
        yield "has a name with a backslash or a colon: part folders by /"
    if any(part in ("", ".", "..") for part in parts):
        yield "has a name that leads out of the archive, or with an empty part: pack the files anew"
    if any(part != part.strip() for part in parts):
        yield "has a name that begins or ends with a space"
    if len(parts) > MOST_FOLDERS + 1:
        yield f"stands more than {MOST_FOLDERS} folders deep"


def _listed_faults(info: zipfile.ZipInfo) -> Iterator[str]:
    """What the archive's list says of it."""
    mode = info.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        yield "is a link to another file, or no file at all: pack the file itself"
    elif info.flag_bits & 0x1:
        yield "is encrypted: pack it without a password"
    elif info.compress_type not in _METHODS:
        yield "is compressed in a way that is not read here: pack it as an ordinary zip"
    elif info.file_size > MOST_FILE_BYTES:
        yield f"has more than {MOST_FILE_BYTES / 1e6:,.0f} MB"
    elif not info.file_size:
        yield "is empty"


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> Entry:
    """Reads all of it, so that a broken file is found now. Raises ValueError with the rest of a sentence."""
    digest = hashlib.sha256()
    with archive.open(info) as stream:
        head = stream.read(PICTURE_HEAD_BYTES)
        digest.update(head)
        content_type = media_type(head[:HEAD_BYTES], name)
        if not content_type:
            raise ValueError(f"is none of the files that are taken: {TAKEN}")
        if content_type == SVG:
            rest = stream.read(svg.MOST_BYTES + 1 - len(head))
            digest.update(rest)
            svg.check(head + rest)
        size = _size(head, content_type)
        while piece := stream.read(PIECE):
            digest.update(piece)
    return Entry(name, content_type, digest.hexdigest(), *size, info)


def _size(head: bytes, content_type: str) -> tuple[int, int]:
    """(0, 0) for what has no pixels. Raises ValueError with the rest of a sentence."""
    found = picture_size(head, content_type)
    if found is None and content_type.startswith("image/") and content_type != SVG:
        raise ValueError("is a picture whose width and height do not stand in its beginning: save it anew")
    width, height = found or (0, 0)
    if width * height > MOST_PIXELS:
        raise ValueError(f"has {width:,} × {height:,} pixels; at most {MOST_PIXELS:,} are taken: make it smaller")
    return width, height


def folders_of(name: str) -> list[str]:
    """`a` and `a/b` of `a/b/cat.png`."""
    return list(accumulate(name.split("/")[:-1], "{}/{}".format))


def _check_names(entries: list[Entry], faults: NamedFaults) -> None:
    """On some machines A.png and a.png are one file, and a row could mean either."""
    seen: dict[str, str] = {}
    folders = {folder for entry in entries for folder in folders_of(entry.name.casefold())}
    for entry in entries:
        if entry.name.casefold() in folders:
            faults.add(entry.name, "has the name of a folder: rename one of them")
        other = seen.setdefault(entry.name.casefold(), entry.name)
        if other is not entry.name:
            same = "is there twice" if other == entry.name else "differs from another name in capital letters alone"
            faults.add(entry.name, f"{same}: rename one of them")


@contextmanager
def as_zip(files: Sequence[tuple[str, BinaryIO]]) -> Iterator[BinaryIO]:
    """The archive itself, or one made of the (name, stream) of files that are none, each as it is."""
    if len(files) == 1 and zipfile.is_zipfile(files[0][1]):
        files[0][1].seek(0)
        yield files[0][1]
        return
    with TemporaryFile() as made:
        with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
            for name, stream in files:
                stream.seek(0)
                _add(archive, name, stream)
        made.seek(0)
        yield made


def _add(archive: zipfile.ZipFile, name: str, stream: BinaryIO) -> None:
    with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as target:
        while piece := stream.read(PIECE):
            target.write(piece)
