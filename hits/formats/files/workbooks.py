"""Workbooks of spreadsheets (.xlsx): the first visible sheet as rows of texts, read with a bound on what it unpacks to.

What is not that kind of file is refused with what to do: an .xls or .ods file, one with a password, an archive that
unpacks to far more than it shows.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any, BinaryIO

from hits.formats.files import archives
from hits.formats.files.faults import Fault, FormatErrors
from hits.formats.files.reading import PIECE

if TYPE_CHECKING:
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

ENDINGS = (".xlsx", ".xlsm")
# How a workbook with a password and one in the old format begin.
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# A workbook has a few files for each sheet and each picture.
MOST_FILES = 5000
MOST_UNPACKED = 100_000_000
# The library keeps something of each element that it reads, and a cell has two, with two tags each.
MOST_CELLS = 1_000_000
_TAGS_OF_A_CELL = 4
# The lines of a sheet that a spreadsheet can have.
MOST_LINES = 1_048_576
_CONTENTS = "[Content_Types].xml"
_SAVE = "in a spreadsheet program, save it as an Excel workbook (.xlsx) or as CSV in UTF-8"
# From here on a decimal number of a computer may lack the last digits of what is written in the file.
_LARGEST_WHOLE = 1e15
# Of a larger one nobody writes all digits.
_MOST_DIGITS = 40
_NO_RESULT = "\0formula"
# What a cell shows whose formula failed.
ERRORS = frozenset({"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"})


class Shortened(str):
    """A large number as it is written in the file, which does not have its last digits: 1.23E+16."""


def fault_of(cell: str) -> str:
    """What is wrong with the text of a cell that holds a formula; empty where nothing is."""
    if cell == _NO_RESULT:
        return "holds a formula without a stored result: open the workbook in a spreadsheet program and save it there"
    return f"holds {cell}, the result of a formula that failed: correct the formula" if cell in ERRORS else ""


@dataclass(frozen=True)
class Sheet:
    """`others` are the names of the visible sheets that are not read."""

    name: str
    others: tuple[str, ...]
    values: Callable[[], Iterator[Sequence[Any]]]

    def lines(self) -> Iterator[tuple[int, list[str]]]:
        """(line, texts of its cells without the empty ones at its end). Raises FormatErrors for a broken sheet."""
        rows = self.values()
        for line in range(1, MOST_LINES + 1):
            try:
                cells = next(rows)
            except StopIteration:
                return
            except Exception as error:
                raise _not_readable(error) from error
            yield line, _texts(cells)


@contextmanager
def opened(stream: BinaryIO) -> Iterator[Sheet]:
    """The first visible sheet of a workbook. Raises FormatErrors."""
    _check_archive(stream)
    # It takes a while, and few files are workbooks.
    import openpyxl

    try:
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True, keep_links=False)
    except Exception as error:
        # The library raises whatever its steps raise: of a file from outside, each says that it is broken.
        raise _not_readable(error) from error
    try:
        visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        if not visible:
            raise _refusal("is a workbook without a visible sheet: show the sheet with the rows")
        first = visible[0]
        # Some programs write a wrong size, and the rest would not be read.
        first.reset_dimensions()
        others = tuple(sheet.title for sheet in visible[1:])
        yield Sheet(first.title, others, lambda: _values(first))
    finally:
        book.close()


def _values(sheet: ReadOnlyWorksheet) -> Iterator[Sequence[Any]]:
    """The cells of each line. The library's own way to them does not know what is written of a number or a formula."""
    from openpyxl.worksheet._reader import FORMULA_TAG, VALUE_TAG, WorkSheetParser

    class Parser(WorkSheetParser):  # type: ignore[misc]
        def parse_cell(self, element: Any) -> dict[str, Any]:
            cell: dict[str, Any] = super().parse_cell(element)
            value = cell["value"]
            if type(value) is float and abs(value) >= _LARGEST_WHOLE:
                cell["value"] = _written(element.findtext(VALUE_TAG))
            elif value is None and element.get("t") != "str" and element.find(FORMULA_TAG) is not None:
                cell["value"] = _NO_RESULT
            return cell

    book = sheet.parent
    with sheet._get_source() as source:
        parser = Parser(
            source,
            sheet._shared_strings,
            data_only=True,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )
        line = 1
        for number, cells in parser.parse():
            for _ in range(line, number):
                yield ()
            yield sheet._get_row(cells, values_only=True)
            line = max(line, number) + 1


def _written(text: str) -> str:
    """A large number with all digits where the file has them."""
    number = Decimal(text)
    _, digits, exponent = number.as_tuple()
    if isinstance(exponent, str) or len(digits) + exponent > _MOST_DIGITS:
        return text
    if exponent > 0:
        return Shortened(text)
    return f"{number:f}".rstrip("0").rstrip(".") if exponent < 0 else f"{number:f}"


def refuse_other_formats(stream: BinaryIO) -> None:
    """Raises FormatErrors for a workbook of a kind that is not read; the stream stays."""
    at = stream.tell()
    try:
        if stream.read(len(_COMPOUND)) != _COMPOUND:
            return
        if _has_password(stream):
            raise _refusal("is a workbook with a password: save it again without one")
        raise _refusal(f"is a workbook in the old format (.xls): {_SAVE}")
    finally:
        stream.seek(at)


def _has_password(stream: BinaryIO) -> bool:
    """An encrypted workbook is a compound file with a stream of this name."""
    name = "EncryptedPackage".encode("utf-16-le")
    before = b""
    while piece := stream.read(PIECE):
        if name in before + piece:
            return True
        before = piece[-len(name) :]
    return False


def _check_archive(stream: BinaryIO) -> None:
    with archives.opened(stream, "", MOST_FILES) as archive:
        members = archive.infolist()
        _check_kind(members)
        _check_size(members)
        try:
            tags = sum(_tags(archive, member) for member in members)
        except archives.BROKEN as error:
            raise _not_readable(error) from error
    if tags > MOST_CELLS * _TAGS_OF_A_CELL:
        raise _refusal(f"is a workbook of more than {MOST_CELLS:,} cells: save the sheet as CSV in UTF-8")


def _tags(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    """How many tags a file holds at most. The parser knows only encodings in which a bracket is this byte."""
    with archive.open(member) as packed:
        return sum(piece.count(b"<") for piece in iter(lambda: packed.read(PIECE), b""))


def _check_kind(members: Sequence[zipfile.ZipInfo]) -> None:
    names = {member.filename for member in members}
    if _CONTENTS not in names or "xl/workbook.bin" in names:
        kind = "a binary workbook (.xlsb)" if _CONTENTS in names else "a ZIP archive and no Excel workbook"
        if "content.xml" in names:
            kind = "an OpenDocument file (.ods)"
        raise _refusal(f"is {kind}: {_SAVE}")


def _check_size(members: Sequence[zipfile.ZipInfo]) -> None:
    for member in members:
        if fault := archives.not_unpacked(member):
            raise FormatErrors([Fault(None, member.filename, fault)])
    # No more of a file is unpacked than the archive says here.
    if (size := sum(member.file_size for member in members)) > MOST_UNPACKED:
        much = f"is a workbook of {size / 1e6:,.0f} MB, unpacked; the limit is {MOST_UNPACKED / 1e6:,.0f} MB"
        raise _refusal(f"{much}: save the sheet as CSV in UTF-8")


def _not_readable(error: Exception) -> FormatErrors:
    what = f"is a workbook that cannot be read ({type(error).__name__})"
    return _refusal(f"{what}: open it in a spreadsheet program and save it again")


def _refusal(message: str) -> FormatErrors:
    return FormatErrors([Fault(None, "", message)])


def _texts(cells: Sequence[Any]) -> list[str]:
    texts = [_text(value) for value in cells]
    while texts and not texts[-1]:
        texts.pop()
    return texts


def _text(value: Any) -> str:
    """What a cell holds: a number without needless digits, a date as in 2026-03-01 or 2026-03-01 14:30:00."""
    if value is None:
        return ""
    if isinstance(value, Shortened):
        return value
    if isinstance(value, str):
        # How some programs write the carriage return before a line feed.
        return value.replace("_x000D_\n", "\n")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date | time) else str(value)
