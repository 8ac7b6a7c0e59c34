"""What every reader of a data-set file does: keep to a limit, decode, tell its progress, name what it found."""

from __future__ import annotations

import csv
import io
import json
import re
import reprlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeVar

from hits.formats.faults import Fault, Faults, FormatErrors

Progress = Callable[[int], None]
Item = TypeVar("Item")

MAX_BYTES = 64 * 1024 * 1024
LONGEST_KEY = 200
_PROGRESS_EVERY = 1000
_BOM = "\ufeff"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")

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


def limited(stream: BinaryIO, max_bytes: int) -> bytes:
    """The whole file. Raises FormatErrors when it is larger than the limit."""
    raw = stream.read(max_bytes + 1)
    if len(raw) <= max_bytes:
        return raw
    size = len(raw) + sum(len(rest) for rest in iter(lambda: stream.read(1 << 20), b""))
    message = (
        f"the file has {size:,} bytes ({size / 1e6:,.1f} MB), the limit is {max_bytes:,} bytes"
        f" ({max_bytes / 1e6:,.1f} MB): split it into several files and import them one after another"
    )
    raise FormatErrors([Fault(None, "", message)])


def limited_text(stream: BinaryIO, max_bytes: int, faults: Faults) -> str:
    """The whole file as text, without its byte order mark; each line that is not UTF-8 is a fault.

    Such a line is read with U+FFFD in place of its wrong bytes, so that its other faults are found too.
    Raises FormatErrors when the file is too large or a ZIP archive: then there is nothing else to find.
    """
    raw = limited(stream, max_bytes)
    if raw.startswith(_ZIP):
        message = "is a ZIP archive (spreadsheets are such archives too): unpack it, or save it as CSV in UTF-8"
        raise FormatErrors([Fault(None, "", message)])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "\n".join(_decoded_lines(raw, faults)).removeprefix(_BOM)


def _decoded_lines(raw: bytes, faults: Faults) -> Iterator[str]:
    offset = 0
    for number, line in enumerate(raw.split(b"\n"), 1):
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            faults.add(number, "", not_utf8(line[error.start], offset + error.start))
            yield line.decode(errors="replace")
        offset += len(line) + 1


def not_utf8(byte: int, offset: int) -> str:
    """The fault of a byte at an offset that counts from 0."""
    return f"is not UTF-8: byte 0x{byte:02x} at byte offset {offset}; save the file as UTF-8"


def told(items: Iterable[Item], progress: Progress | None) -> Iterator[Item]:
    """The items; `progress` is called with the number that was worked off, every 1,000 and at the end."""
    count = 0
    for item in items:
        yield item
        count += 1
        if progress and count % _PROGRESS_EVERY == 0:
            progress(count)
    if progress and count % _PROGRESS_EVERY:
        progress(count)


def unwanted(text: str) -> str | None:
    """The fault of a text with control characters other than tab and line feed, or with halves of pairs."""
    if not (found := _UNWANTED.search(text)):
        return None
    code, what = ord(found[0]), "half of a surrogate pair" if found[0] >= "\ud800" else "a control character"
    return f"holds {what}, U+{code:04X}, at character {found.start()}: remove it"


def json_lines(text: str, faults: Faults) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, object) of each line that is not blank; a line that holds no object is a fault."""
    for number, line in enumerate(text.split("\n"), 1):
        if line and not line.isspace():
            yield from ((number, value) for value in _objects(line, number, faults))


def _objects(line: str, number: int, faults: Faults) -> list[dict[str, Any]]:
    """The object of the line in a list, or an empty list when it holds none."""
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        faults.add(number, "", f"is not JSON: {error.msg}, at column {error.colno}")
        return []
    except (ValueError, RecursionError):
        faults.add(number, "", "is not JSON that can be read: a number is too long or brackets are nested too deep")
        return []
    if type(value) is dict:
        return [value]
    faults.add(number, "", f"must be an object, not {kind(value)}: one object a line")
    return []


def csv_records(text: str, faults: Faults) -> Iterator[tuple[int, list[str]]]:
    """(first line, cells) of each row that is not blank."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            what = f"the quotes of this row do not match or a cell is far too long ({error})"
            faults.add(line, "", f"{what}, so nothing after it can be read")
            return
        if cells:
            yield line, [cell.replace("\r\n", "\n") for cell in cells]


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
