"""What every reader of a data-set file does: keep to a limit, decode, tell its progress, name what it found."""

from __future__ import annotations

import csv
import io
import json
import re
import reprlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, BinaryIO, TypeVar

from hits.formats.files import archives
from hits.formats.files.faults import Fault, Faults, FormatErrors, counted

Progress = Callable[[int], None]
Item = TypeVar("Item")

MAX_BYTES = 64 * 1024 * 1024
LONGEST_KEY = 200
# What one file may hold, so that neither its memory nor its time grows beyond what its size lets expect.
MOST_ROWS = 250_000
MOST_COLUMNS = 1000
LONGEST_LINE = 4_000_000
# What the csv module takes.
LONGEST_CELL = csv.field_size_limit()
ROW_TOO_LONG = "this row has more than"
PIECE = 1 << 20
_PROGRESS_EVERY = 1000
_BOM = "\ufeff"
_LINE = re.compile("[^\n]*\n|[^\n]+")
_QUOTED = re.compile(r'"[^"]*"')

# Control characters other than tab and line feed, and halves of surrogate pairs, which no UTF-8 file can hold.
_UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# Messages quote what a file holds, and files may hold very long things.
_QUOTING = reprlib.Repr()
_QUOTING.maxstring = 80
quoted = _QUOTING.repr

_KINDS: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a decimal number",
    type(None): "null",
}


def kind(value: object) -> str:
    """What a JSON value is, in words."""
    return _KINDS[type(value)]


def text_pieces(stream: BinaryIO, max_bytes: int, faults: Faults, *, wrong_are_blank: bool = False) -> Iterator[str]:
    """The file as text in pieces of a megabyte or so, without its byte order mark; line ends stay as they are.

    Each line that is not UTF-8 is a fault. It is read with U+FFFD in place of its wrong bytes, so that its other
    faults are found too, or as a blank one. The stream must be seekable. Raises FormatErrors when the file is too
    large or a ZIP archive: then there is nothing else to find.
    """
    check_size(stream, max_bytes)
    line, offset, left = 1, 0, b""
    while piece := stream.read(PIECE):
        if not offset and not left and piece.startswith(archives.BEGINNINGS):
            message = "is a ZIP archive (spreadsheets are such archives too): unpack it, or save it as CSV in UTF-8"
            raise FormatErrors([Fault(None, "", message)])
        raw = left + piece
        # At a line's end where there is one, otherwise at a character's.
        cut = raw.rfind(b"\n") + 1 or _whole_characters(raw)
        raw, left = raw[:cut], raw[cut:]
        yield _decoded(raw, line, offset, faults, wrong_are_blank)
        line, offset = line + raw.count(b"\n"), offset + len(raw)
    if left:
        yield _decoded(left, line, offset, faults, wrong_are_blank)


def check_size(stream: BinaryIO, max_bytes: int) -> None:
    """Raises FormatErrors for a file that is too large."""
    if (size := archives.size_of(stream)) > max_bytes:
        message = (
            f"the file has {size:,} bytes ({size / 1e6:,.1f} MB), the limit is {max_bytes:,} bytes"
            f" ({max_bytes / 1e6:,.1f} MB): split it into several files and import them one after another"
        )
        raise FormatErrors([Fault(None, "", message)])


def _whole_characters(raw: bytes) -> int:
    """How many bytes stand before a character that is cut off at the end, if there is one."""
    for back in range(1, min(4, len(raw)) + 1):
        if raw[-back] >= 0xC0:
            return len(raw) - back
        if raw[-back] < 0x80:
            break
    return len(raw)


def _decoded(raw: bytes, line: int, offset: int, faults: Faults, wrong_are_blank: bool) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = "\n".join(_decoded_lines(raw, line, offset, faults, wrong_are_blank))
    return text if offset else text.removeprefix(_BOM)


def _decoded_lines(raw: bytes, line: int, offset: int, faults: Faults, wrong_are_blank: bool) -> Iterator[str]:
    for number, one in enumerate(raw.split(b"\n"), line):
        try:
            yield one.decode()
        except UnicodeDecodeError as error:
            faults.add(number, "", not_utf8(one[error.start], offset + error.start))
            yield "" if wrong_are_blank else one.decode(errors="replace")
        offset += len(one) + 1


def text_lines(stream: BinaryIO, max_bytes: int, faults: Faults, *, wrong_are_blank: bool = False) -> Iterator[str]:
    """Each line with its line feed; see `text_pieces`. After a line that is far too long nothing is read."""
    number, size = 1, 0
    begun: list[str] = []
    for piece in text_pieces(stream, max_bytes, faults, wrong_are_blank=wrong_are_blank):
        # Only line feeds part lines here, other than in `splitlines`.
        for one in lines_of(piece):
            begun.append(one)
            size += len(one)
            if size > LONGEST_LINE:
                faults.add(number, "", f"has more than {LONGEST_LINE:,} characters; nothing after it can be read")
                return
            if one.endswith("\n"):
                yield "".join(begun)
                number, begun, size = number + 1, [], 0
    if begun:
        yield "".join(begun)


def lines_of(text: str) -> Iterator[str]:
    """Each line with its line feed, of a text that is in memory."""
    return (found[0] for found in _LINE.finditer(text))


def first_character(stream: BinaryIO) -> str:
    """The first one that is neither a space nor the byte order mark; empty where there is none. The stream stays."""
    at = stream.tell()
    try:
        while raw := stream.read(PIECE):
            if found := raw.removeprefix(_BOM.encode()).lstrip()[:1]:
                return found.decode(errors="replace")
        return ""
    finally:
        stream.seek(at)


NOT_UTF8 = "is not UTF-8"


def not_utf8(byte: int, offset: int) -> str:
    """The fault of a byte at an offset that counts from 0."""
    return f"{NOT_UTF8}: byte 0x{byte:02x} at byte offset {offset}; save the file as UTF-8"


def told(items: Iterable[Item], progress: Progress | None) -> Iterator[Item]:
    """The items; `progress` is called with the number that was worked off, every 1,000 and at the end.

    Raises FormatErrors for more than `MOST_ROWS`.
    """
    count = 0
    for item in items:
        yield item
        count += 1
        if count > MOST_ROWS:
            raise FormatErrors([Fault(None, "", too_many_rows())])
        if progress and count % _PROGRESS_EVERY == 0:
            progress(count)
    if progress and count % _PROGRESS_EVERY:
        progress(count)


def too_many_rows() -> str:
    most = f"holds more than {MOST_ROWS:,} rows, which are the most that one import takes"
    return f"{most}: split it into several files and import them one after another"


def unwanted(text: str) -> str | None:
    """The fault of a text with control characters other than tab and line feed, or with halves of pairs."""
    if not (found := _UNWANTED.search(text)):
        return None
    code, what = ord(found[0]), "half of a surrogate pair" if found[0] >= "\ud800" else "a control character"
    return f"holds {what}, U+{code:04X}, at character {found.start()}: remove it"


class UnfitJsonError(ValueError):
    """JSON that a decoder of `json_lines` does not take; its text is the fault."""


def json_lines(
    lines: Iterable[str], faults: Faults, decode: Callable[[str], Any] = json.loads
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, object) of each line that is not blank; a line that holds no object is a fault."""
    for number, value in json_values(lines, faults, decode):
        if type(value) is dict:
            yield number, value
        else:
            faults.add(number, "", f"must be an object, not {kind(value)}: one object a line")


def json_values(
    lines: Iterable[str], faults: Faults, decode: Callable[[str], Any] = json.loads
) -> Iterator[tuple[int, Any]]:
    """(line, value) of each line that is not blank; a line that is not JSON is a fault."""
    for number, line in enumerate(lines, 1):
        if not line or line.isspace():
            continue
        try:
            value = decode(line.removesuffix("\n"))
        except json.JSONDecodeError as error:
            faults.add(number, "", f"is not JSON: {error.msg}, at column {error.colno}")
        except UnfitJsonError as error:
            faults.add(number, "", str(error))
        except (ValueError, RecursionError):
            faults.add(number, "", not_readable())
        else:
            yield number, value


def not_readable() -> str:
    return "is not JSON that can be read: a number is too long or brackets are nested too deep"


# The first one where a line has none of them.
SEPARATORS = (",", ";", "\t")
# Lines that are looked through for the first one that is not blank.
MOST_BLANK = 1000


def csv_records(
    lines: Iterable[str], faults: Faults, separator: str = "", longest: int = LONGEST_LINE
) -> Iterator[tuple[int, list[str]]]:
    """(first line, cells) of each row that is not blank. After a row of too many cells nothing is read.

    Cells are parted by the separator or, without one, by what the first line has most of outside quotes: commas,
    semicolons or tabs, as spreadsheets write them.
    """
    rest = iter(lines)
    head = []
    for text in rest:
        head.append(text)
        if text.strip() or len(head) == MOST_BLANK:
            break
    separator = separator or max(SEPARATORS, key=_QUOTED.sub("", head[-1] if head else "").count)
    source = CsvLines(chain(head, rest), longest)
    reader = csv.reader(source, strict=True, delimiter=separator)
    while True:
        line = reader.line_num + 1
        source.size = 0
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            what = too_large(error) or f"the quotes of this row do not match ({error})"
            faults.add(line, "", f"{what}, so nothing after it can be read")
            return
        if len(cells) > MOST_COLUMNS:
            faults.add(line, "", f"{too_many_cells(len(cells))}, so nothing after it can be read")
            return
        if cells:
            yield line, [cell.replace("\r\n", "\n") for cell in cells]


def csv_rows(
    lines: Iterable[str], faults: Faults, check_head: Callable[[Row, list[str]], bool]
) -> Iterator[tuple[int, dict[str, str]]]:
    """(line, cells by the names of the first line). `check_head` names what is wrong with these names and returns
    whether the rows after them are read; it is not asked about a file without rows.
    """
    records = csv_records(lines, faults)
    for head_line, head in records:
        names = [name.strip() for name in named(head)]
        if check_head(Row(faults, head_line), names):
            break
        return
    for line, cells in records:
        if message := width_fault(cells, len(names), len(head)):
            faults.add(line, "", message)
        else:
            yield line, dict(zip(names, cells, strict=False))


def named(head: Sequence[str]) -> Sequence[str]:
    """The names of the columns without the empty ones at the end, as spreadsheets write them."""
    return head[: max((number for number, name in enumerate(head, 1) if name.strip()), default=0)]


def width_fault(cells: Sequence[str], names: int, width: int) -> str:
    """The fault of a row; empty where it fits a first line of `width` cells, of which the first `names` are named.

    The cells of columns without a name may be left out, and nothing may be in them.
    """
    return unnamed_value(cells, names) if names <= len(cells) <= width else other_width(len(cells), width)


def unnamed_value(cells: Sequence[str], names: int) -> str:
    """The fault of a row with values beyond the columns that have a name; empty without one."""
    beyond = [str(number) for number, cell in enumerate(cells[names:], names + 1) if cell.strip()]
    if not beyond:
        return ""
    which = f"column {beyond[0]}" if len(beyond) == 1 else f"the columns {listed(beyond)}"
    return f"there is a value in {which}, without a name in the first line: name every column"


def listed(words: Sequence[str]) -> str:
    """The first few of them."""
    return ", ".join(words[:5]) + (f" and {len(words) - 5:,} more" if len(words) > 5 else "")


def other_width(cells: int, names: int) -> str:
    """The fault of a row that is longer or shorter than the first one, which names the columns."""
    return f"{counted(cells, 'cell')} where the first line has {names}: quote a text that holds separators"


def too_large(error: csv.Error) -> str:
    """Which limit a row or its cell exceeds; empty for any other error."""
    if str(error).startswith(ROW_TOO_LONG):
        return str(error)
    return f"a cell has more than {LONGEST_CELL:,} characters" if "field larger" in str(error) else ""


def too_many_cells(count: int) -> str:
    return f"this row has {counted(count, 'cell')}, the limit is {MOST_COLUMNS:,} columns"


def sentence(words: str) -> str:
    """With a capital at its beginning."""
    return words[:1].upper() + words[1:]


class FaultSentences(Faults):
    """Adds each fault as a sentence to others that are written so."""

    def __init__(self, faults: Faults) -> None:
        super().__init__()
        self._faults = faults

    def add(self, line: int | None, place: str, message: str) -> None:
        self._faults.add(line, place, f"{sentence(message)}.")


class CsvLines:
    """Lines as the csv module wants them: a carriage return alone ends one too.

    `size` counts the characters of the row so far; whoever reads a row sets it back.
    """

    def __init__(self, lines: Iterable[str], longest: int) -> None:
        self._lines = self._parted(lines)
        self.longest = longest
        self.size = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.size += len(line)
        if self.size > self.longest:
            # The csv module lets it through.
            raise csv.Error(f"{ROW_TOO_LONG} {self.longest:,} characters")
        return line

    @staticmethod
    def _parted(lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            if "\r" in line.removesuffix("\n").removesuffix("\r"):
                yield from io.StringIO(line, newline="")
            else:
                yield line


def repeated(names: Iterable[str]) -> list[str]:
    """Those that stand there more than once, in the order of the alphabet."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


@dataclass(slots=True)
class Keys:
    """The keys of a file, each of which may stand there once."""

    seen: dict[str, int] = field(default_factory=dict)

    def check(self, row: Row, key: str) -> None:
        if key and key in self.seen:
            row.say("id", f"{quoted(key)} is taken: line {self.seen[key]} has it already")
        self.seen.setdefault(key, row.line)


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a file whose faults are being collected. After a fault, a check goes on with an empty text."""

    faults: Faults
    line: int

    def say(self, place: str, message: str) -> None:
        self.faults.add(self.line, place, message)

    def check_names(self, names: Collection[str], needed: Sequence[str], optional: Sequence[str] = ()) -> None:
        for name in needed:
            if name not in names:
                self.say("", f"the field {name} is missing")
        for name in names:
            if name not in needed and name not in optional:
                self.say("", f"unknown field {quoted(name)}: remove it; there are {', '.join((*needed, *optional))}")

    def text(self, value: object, place: str, longest: int) -> str:
        """The text as it stands, or an empty one when nothing can be compared with it."""
        if type(value) is not str:
            self.say(place, f"must be a text, not {kind(value)}")
            return ""
        if not value.strip():
            self.say(place, "must not be blank")
            return ""
        if len(value) > longest:
            self.say(place, f"has {len(value):,} characters, the limit is {longest:,}")
        if message := unwanted(value):
            self.say(place, message)
        return value
