"""Files of text that are not UTF-8: in which encoding they probably are, how they read in each, and the same in UTF-8.

A guess can be wrong, so a lead confirms it. Memory does not grow with the file.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from hits.formats.files import archives
from hits.formats.files.reading import PIECE
from hits.refusals import Refused

UTF_8, MIXED, WESTERN = "utf-8", "utf-8-mixed", "cp1252"
# By the name of Python's codec. Latin-1 has no printed character that Windows-1252 has elsewhere.
ENCODINGS = {
    WESTERN: "Windows-1252 or Latin-1 (Western European)",
    MIXED: "UTF-8, single other bytes as Windows-1252",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16, little endian",
    "utf-16-be": "UTF-16, big endian",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "koi8_r": "KOI8-R (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "cp1257": "Windows-1257 (Baltic)",
    "cp1258": "Windows-1258 (Vietnamese)",
    "cp874": "Windows-874 (Thai)",
    "cp932": "Shift JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "cp949": "Windows-949 (Korean)",
    "mac_roman": "Mac Roman (Western European)",
}
_BY_LINES = [name for name in ENCODINGS if not name.startswith("utf-16")]
_ALIKE = {"iso8859-1": WESTERN, "utf-8-sig": UTF_8, "shift_jis": "cp932", "gbk": "gb18030", "gb2312": "gb18030"}
_MARKS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
# Of the lines that are not UTF-8, as much is looked at, and as many of them are shown.
_SAMPLE_BYTES, _LINE_BYTES = 64_000, 2000
SHOWN_LINES, SHOWN_BEFORE, SHOWN_BYTES = 3, 40, 160
_CONTROL = re.compile("[\x00-\x08\x0e-\x19\x1b-\x1f]")
_CONTROL_BYTES = re.compile(_CONTROL.pattern.encode())
# What Western European texts have: letters, at most two in a row, and signs, none of them between two letters.
_WEST_LETTERS = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜßàáâãäåæçèéêëìíîïñòóôõöøùúûüŒœŸ"
_WEST_SIGNS = "\xa0€‚„…‹›“”•–—™¡£§©ª«®°±²³´·¹º»¼½¾¿×"
_WEST = re.compile(rf"[\x00-\x7f{_WEST_LETTERS}{_WEST_SIGNS}‘’]*")
_NOT_WEST = re.compile(rf"[{_WEST_LETTERS}]{{3}}|[^\W\d_][{_WEST_SIGNS[8:]}][^\W\d_]")


def decoded(content: bytes) -> str:
    """A small file as text: UTF-8, or UTF-16 with its mark, as spreadsheets save "Unicode text".

    Raises UnicodeDecodeError.
    """
    marked = any(content.startswith(mark) for mark, _ in _MARKS)
    return content.decode("utf-16" if marked else "utf-8-sig")


def _as_western(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode(WESTERN, "replace"), error.end


codecs.register_error("as-western", _as_western)


def _refusal(message: str) -> Refused:
    return Refused("encoding_refused", f"{message} Nothing was imported.", status=400)


@dataclass(frozen=True)
class Guess:
    """`lines` are the first ones that are not UTF-8: (number, its bytes from shortly before the first of these)."""

    encoding: str
    lines: tuple[tuple[int, bytes], ...]

    def readings(self) -> list[tuple[str, str, list[tuple[int, str]]]]:
        """(encoding, its name, the lines as texts) of each encoding in which the lines can be read, the guess first."""
        others = [] if self.encoding.startswith("utf-16") else [one for one in _BY_LINES if one != self.encoding]
        return [
            (one, ENCODINGS[one], texts)
            for one in (self.encoding, *others)
            if (texts := _texts(self.lines, one)) is not None
        ]


def _needed(guess: Guess) -> Refused:
    """What is refused where a file that is not UTF-8 came without an encoding."""
    lines = _texts(guess.lines, guess.encoding) or [(1, "")]
    number, text = lines[0]
    return Refused(
        "encoding_needed",
        f"The file is not in UTF-8. It may be {ENCODINGS[guess.encoding]}: then line {number:,} has “{text}”. If "
        f"that is right, send it again with the option encoding: {guess.encoding} (command line: --encoding "
        f"{guess.encoding}). Otherwise choose another of {', '.join(ENCODINGS)}. Nothing was imported.",
        status=400,
        guess=guess.encoding,
        lines=[{"line": line, "text": read} for line, read in lines],
        encodings=ENCODINGS,
    )


def _texts(lines: Sequence[tuple[int, bytes]], encoding: str) -> list[tuple[int, str]] | None:
    """None where a line cannot be read in this encoding; of a character that is cut off at its end nothing is."""
    found = []
    for number, raw in lines:
        decoder = _decoder(encoding)
        try:
            text = decoder.decode(raw)
        except UnicodeError:
            return None
        found.append((number, text.strip("\ufeff\r\n")))
    return found


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    if encoding == MIXED:
        return codecs.getincrementaldecoder(UTF_8)("as-western")
    return codecs.getincrementaldecoder(encoding)()


def named(encoding: str) -> str:
    """The encoding of a name as people write it, such as Latin-1 or ISO-8859-1. Raises Refused (encoding_refused)."""
    given = encoding.strip().lower()
    if given in ENCODINGS:
        return given
    try:
        found = codecs.lookup(given).name
        found = next((one for one in _BY_LINES if one != MIXED and codecs.lookup(one).name == found), found)
    except (LookupError, ValueError):
        found = ""
    found = _ALIKE.get(found, found)
    if found not in (UTF_8, *ENCODINGS):
        raise _refusal(f"“{encoding:.40}” is no encoding that is read: there are {UTF_8}, {', '.join(ENCODINGS)}.")
    return found


def guessed(stream: BinaryIO) -> Guess | None:
    """None for what is UTF-8, and for what is no text in any encoding. The stream stays at its beginning."""
    stream.seek(0)
    try:
        beginning = stream.read(1000)
        if beginning.startswith(archives.BEGINNINGS):
            return None
        if wide := _wide(beginning):
            stream.seek(0)
            return _guess_of_wide(stream.read(_SAMPLE_BYTES), wide)
        return None if _CONTROL_BYTES.search(beginning) else _guess_of_lines(stream)
    finally:
        stream.seek(0)


def _wide(beginning: bytes) -> str:
    """UTF-16 by its mark, or by every other byte of ASCII's characters being zero."""
    for mark, encoding in _MARKS:
        if beginning.startswith(mark):
            return encoding
    odd, even = beginning[1::2].count(0), beginning[::2].count(0)
    if max(odd, even) < 2 or min(odd, even):
        return ""
    return "utf-16-le" if odd else "utf-16-be"


def _guess_of_wide(raw: bytes, encoding: str) -> Guess | None:
    try:
        text = _decoder(encoding).decode(raw)
    except UnicodeError:
        return None
    if _CONTROL.search(text):
        return None
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    shown = tuple((number, line[:SHOWN_BYTES].encode(encoding)) for number, line in lines[:SHOWN_LINES])
    return Guess(encoding, shown) if shown else None


@dataclass
class _Looked:
    """What was seen so far: `right` and `wrong` count bytes beyond ASCII that are UTF-8, and those that are not."""

    right: int = 0
    wrong: int = 0
    sample: list[bytes] = field(default_factory=list)
    shown: list[tuple[int, bytes]] = field(default_factory=list)
    size: int = 0

    def look(self, number: int, line: bytes) -> None:
        text = line.decode(errors="ignore")
        kept = text.encode()
        self.right += len(kept) - len(text)
        if kept == line:
            return
        self.wrong += len(line) - len(kept)
        # From an ASCII character on, so that no character is cut in two at the beginning.
        start = next(place for place, byte in enumerate(line) if byte >= 0x80)
        part = (line + b"\n")[max(0, start - SHOWN_BEFORE) :]
        if len(self.shown) < SHOWN_LINES:
            self.shown.append((number, part[:SHOWN_BYTES]))
        self.sample.append(part[:_LINE_BYTES])
        self.size += len(self.sample[-1])


def _guess_of_lines(stream: BinaryIO) -> Guess | None:
    stream.seek(0)
    looked, number, left = _Looked(), 1, b""
    while looked.size < _SAMPLE_BYTES and (piece := stream.read(PIECE)):
        raw = left + piece
        cut = raw.rfind(b"\n") + 1 or (len(raw) if len(raw) > 4 * PIECE else 0)
        raw, left = raw[:cut], raw[cut:]
        number = _look_at(raw, number, looked)
    if looked.size < _SAMPLE_BYTES:
        _look_at(left, number, looked)
    sample = b"".join(looked.sample)
    if not looked.wrong or _CONTROL_BYTES.search(sample):
        return None
    encoding = MIXED if looked.right >= looked.wrong else _guessed_of(sample, has_utf_8=bool(looked.right))
    return Guess(encoding, tuple(looked.shown)) if encoding else None


def _look_at(raw: bytes, number: int, looked: _Looked) -> int:
    """The number of the line after these."""
    lines = raw.split(b"\n")
    try:
        # Most pieces of most files hold nothing wrong, or nothing but ASCII.
        looked.right += len(raw) - len(raw.decode())
    except UnicodeDecodeError:
        for at, line in enumerate(lines):
            if not line.isascii():
                looked.look(number + at, line)
    return number + len(lines) - 1


def _guessed_of(sample: bytes, *, has_utf_8: bool) -> str:
    """The library takes short Western European texts for Central European or Baltic ones, which have the same bytes."""
    text = sample.decode(UTF_8, "as-western")
    if _WEST.fullmatch(text) and not _NOT_WEST.search(text):
        return MIXED if has_utf_8 else WESTERN
    # It takes a while, and nearly every file is UTF-8.
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=[one for one in _BY_LINES if one != MIXED], enable_fallback=False).best()
    return best.encoding if best and best.encoding in ENCODINGS else ""


def in_utf8(stream: BinaryIO, encoding: str) -> Iterator[bytes]:
    """The file in UTF-8, a megabyte or so at a time. Raises Refused (encoding_refused) where it cannot be read so."""
    encoding = named(encoding)
    stream.seek(0)
    if stream.read(4).startswith(archives.BEGINNINGS):
        raise _refusal("A workbook or another ZIP archive has no encoding: leave it out.")
    stream.seek(0)
    decoder, before = _decoder(encoding), 0
    while True:
        raw = stream.read(PIECE)
        try:
            text = decoder.decode(raw, final=not raw)
        except UnicodeError as error:
            # A UnicodeDecodeError, or UTF-16 without its mark.
            name = ENCODINGS.get(encoding, "UTF-8")
            raise _refusal(
                f"The file is not {name}: what follows its byte {before + 1:,} cannot be read so."
            ) from error
        yield (text if before else text.removeprefix("\ufeff")).encode()
        before += len(raw)
        if not raw:
            return


def bytes_in_utf8(content: bytes, encoding: str = "") -> bytes:
    """Without an encoding the file must be UTF-8, or no text. Raises Refused (encoding_needed, encoding_refused)."""
    stream = io.BytesIO(content)
    if encoding:
        return b"".join(in_utf8(stream, encoding))
    if guess := guessed(stream):
        raise _needed(guess)
    return content
