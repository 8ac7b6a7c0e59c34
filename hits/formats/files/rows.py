"""Tables that people bring, row by row: CSV, TSV, JSON Lines or a workbook (.xlsx), in memory that does not grow.

What a file holds says which of them it is, and its name where that does not: a ZIP archive is a workbook, a first line
that is a JSON object begins JSON Lines, and of the rest a name that ends in .tsv has tabs and any other what its first
line has most of: commas, semicolons or tabs. All are UTF-8, with or without a byte order mark.

The first line that is not blank names the columns, a name of several lines with a space for each line end; of JSON
Lines, the fields of the first 1,000 lines do. Every cell is a text: numbers as they are written, true and false, lists
and objects as JSON, dates as 2026-03-01. What is not there is an empty text. Rows whose cells are all blank are
skipped, and columns at the end that have neither a name nor a value.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, BinaryIO, TypeAlias

from hits.formats.files import archives, workbooks
from hits.formats.files.faults import Fault, Faults, FormatErrors
from hits.formats.files.reading import (
    LONGEST_CELL,
    MAX_BYTES,
    MOST_COLUMNS,
    NOT_UTF8,
    PIECE,
    Progress,
    UnfitJsonError,
    check_size,
    csv_records,
    first_character,
    json_lines,
    listed,
    named,
    quoted,
    repeated,
    text_lines,
    told,
    too_many_cells,
    unnamed_value,
    unwanted,
    width_fault,
)
from hits.formats.files.workbooks import Sheet

Cells: TypeAlias = dict[str, str]
TableRow: TypeAlias = tuple[int, Cells]

PREVIEWED = 5
LONGEST_NAME = 200
# Of JSON Lines, those whose fields are the columns; of any table, those among which the first good rows are looked for.
HEAD_LINES = 1000
_NO_ROW = "the file holds no row: write the names of the columns in the first line and a row in each line after it"
_LATE = f"is a field that none of the first {HEAD_LINES:,} lines has: add it to one of them"
_TSV = (".tsv", ".tab")
_CSV = (".csv", *_TSV)
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# Spreadsheets wrap long names.
_LINE_END = re.compile(r"\s*[\r\n]\s*")
_CONVERT = "save it as UTF-8 (spreadsheet programs call it “CSV UTF-8”)"


class TableFile(ABC):
    """A table with its columns. What is wrong with single rows is told while they are read."""

    kind: str
    # A sentence about what of the file is not read; empty where all is.
    note = ""

    def __init__(self, columns: Iterable[str]) -> None:
        self.columns = tuple(columns)

    def rows(self, faults: Faults, progress: Progress | None = None) -> Iterator[TableRow]:
        """(line, cell by column) of each row without a fault, from the beginning; the others add to `faults`.

        `progress` is called with the number of rows, every 1,000 and at the end. Raises FormatErrors for a file that
        cannot be read any further, or that has too many rows.
        """
        found = False
        for line, cells in told(self._checked(faults), progress):
            if cells is not None:
                found = True
                yield line, cells
        if not found and not faults.count:
            faults.add(None, "", _NO_ROW)

    def first(self, count: int = PREVIEWED) -> list[TableRow]:
        """The first good rows, of the first 1,000."""
        looked_at = islice(self._checked(Faults()), HEAD_LINES)
        return list(islice(((line, cells) for line, cells in looked_at if cells is not None), count))

    def remarks(self) -> list[str]:
        """What to know of the file beside its rows, as sentences, also of what only a look at all of it shows."""
        return [self.note] if self.note else []

    def _by_column(self, line: int, cells: Sequence[str], faults: Faults) -> Cells | None:
        """A spreadsheet writes columns without names too: they are left out, unless there is something in them."""
        width = len(self.columns)
        if message := unnamed_value(cells, width):
            faults.add(line, "", message)
            return None
        # A workbook does not say that the last cells of a line are empty.
        return dict(zip(self.columns, [*cells[:width], *[""] * (width - len(cells))], strict=True))

    @abstractmethod
    def _rows(self, faults: Faults) -> Iterator[tuple[int, Cells | None]]:
        """(line, its cells), None where the line has a fault already."""

    def _checked(self, faults: Faults) -> Iterator[tuple[int, Cells | None]]:
        for line, cells in self._rows(faults):
            if cells is None:
                yield line, None
            elif any(text and not text.isspace() for text in cells.values()):
                sound = True
                for name, text in cells.items():
                    message = unwanted(text)
                    if len(text) > LONGEST_CELL:
                        message = f"has {len(text):,} characters, the limit is {LONGEST_CELL:,}"
                    if message:
                        faults.add(line, name, message)
                        sound = False
                yield line, cells if sound else None


@contextmanager
def opened(stream: BinaryIO, name: str = "", *, max_bytes: int = MAX_BYTES) -> Iterator[TableFile]:
    """The table of a file, for as long as the context lasts. The stream must be seekable; `name` is the file's.

    Raises FormatErrors for what is no table, or one whose columns cannot be told apart.
    """
    check_size(stream, max_bytes)
    ending = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    workbooks.refuse_other_formats(stream)
    beginning = _beginning(stream, 1000)
    if beginning.startswith(archives.BEGINNINGS):
        with workbooks.opened(stream) as sheet:
            yield _SheetRows(sheet)
        return
    if ending in workbooks.ENDINGS:
        raise _refusal(f"is named {ending} and is no workbook: save it again, or give it the ending of what it is")
    if beginning.startswith(_UTF_16) or b"\0" in beginning:
        raise _refusal(f"is UTF-16, or no text at all: {_CONVERT}")
    if _is_json_lines(stream, ending):
        yield _JsonRows(stream, max_bytes)
    else:
        yield _SeparatedRows(stream, max_bytes, "\t" if ending in _TSV else "")


def _beginning(stream: BinaryIO, size: int) -> bytes:
    at = stream.tell()
    beginning = stream.read(size)
    stream.seek(at)
    return beginning


def _is_json_lines(stream: BinaryIO, ending: str) -> bool:
    if first_character(stream) not in ("{", "["):
        return ending in (".jsonl", ".ndjson", ".json")
    if ending not in _CSV:
        return True
    try:
        # The name of a column may begin with a bracket.
        first_line = _beginning(stream, PIECE).lstrip().partition(b"\n")[0]
        return isinstance(json.loads(first_line.decode("utf-8-sig")), dict)
    except (ValueError, RecursionError):
        return False


def _refusal(message: str) -> FormatErrors:
    return FormatErrors([Fault(None, "", message)])


# The three layouts


class _SeparatedRows(TableFile):
    def __init__(self, stream: BinaryIO, max_bytes: int, separator: str) -> None:
        self.kind = "tsv" if separator else "csv"
        self._stream, self._max_bytes, self._separator, self._at = stream, max_bytes, separator, stream.tell()
        faults = Faults()
        line, names = next(self._records(faults), (1, []))
        faults.refuse()
        self._width = len(names)
        if unnamed := len(names) - len(columns := named(names)):
            last = "The last column is" if unnamed == 1 else f"The last {unnamed:,} columns are"
            self.note = f"{last} not read: there is no name in the first line."
        super().__init__(_column_names(line, columns))

    def _records(self, faults: Faults) -> Iterator[tuple[int, list[str]]]:
        self._stream.seek(self._at)
        records = csv_records(_lines(self._stream, self._max_bytes, faults), faults, self._separator)
        return ((line, cells) for line, cells in records if any(cell.strip() for cell in cells))

    def _rows(self, faults: Faults) -> Iterator[tuple[int, Cells | None]]:
        for line, cells in islice(self._records(faults), 1, None):
            if message := width_fault(cells, len(self.columns), self._width):
                faults.add(line, "", message)
                yield line, None
            else:
                yield line, self._by_column(line, cells, faults)


class _JsonRows(TableFile):
    kind = "jsonl"

    def __init__(self, stream: BinaryIO, max_bytes: int) -> None:
        self._stream, self._max_bytes, self._at = stream, max_bytes, stream.tell()
        faults = Faults()
        found: dict[str, None] = {}
        for _, fields in islice(self._objects(faults), HEAD_LINES):
            found.update(dict.fromkeys(fields))
            if len(found) > MOST_COLUMNS:
                raise _refusal(f"its lines have more than {MOST_COLUMNS:,} fields, which are the most that a table has")
        if not found:
            faults.refuse()
        super().__init__(_column_names(None, found))

    def _objects(self, faults: Faults) -> Iterator[tuple[int, Cells]]:
        self._stream.seek(self._at)
        return json_lines(_lines(self._stream, self._max_bytes, faults), faults, _texts_of)

    def _rows(self, faults: Faults) -> Iterator[tuple[int, Cells | None]]:
        known = set(self.columns)
        for line, fields in self._objects(faults):
            late = [name for name in fields if name not in known]
            for name in late:
                faults.add(line, name, _LATE)
            yield line, None if late else {name: fields.get(name, "") for name in self.columns}


class _SheetRows(TableFile):
    kind = "xlsx"

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        if others := len(sheet.others):
            left = "the other sheet is" if others == 1 else f"the other {others:,} sheets are"
            self.note = f"The first sheet, “{sheet.name}”, is read; {left} not."
        line, names = next(self._lines(), (1, []))
        faults = Faults()
        for name in filter(None, map(workbooks.fault_of, names)):
            faults.add(line, "", f"a name of a column {name}")
        faults.refuse()
        super().__init__(_column_names(line, named(names)))

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        return ((line, cells) for line, cells in self._sheet.lines() if any(cell.strip() for cell in cells))

    def _rows(self, faults: Faults) -> Iterator[tuple[int, Cells | None]]:
        for line, cells in islice(self._lines(), 1, None):
            row = self._by_column(line, cells, faults)
            failed = [(name, fault) for name, cell in (row or {}).items() if (fault := workbooks.fault_of(cell))]
            for name, fault in failed:
                faults.add(line, name, fault)
            yield line, None if failed else row

    def remarks(self) -> list[str]:
        shortened = [
            (line, name)
            for line, cells in islice(self._lines(), 1, None)
            for name, cell in zip(self.columns, cells, strict=False)
            if isinstance(cell, workbooks.Shortened)
        ]
        if not shortened:
            return super().remarks()
        cells = listed([f"{name} in line {line:,}" for line, name in shortened])
        which = "1 number" if len(shortened) == 1 else f"{len(shortened):,} numbers"
        lost = f"The workbook does not have all digits of {which}, such as 1.23E+16: {cells}. Store ids as texts."
        return [*super().remarks(), lost]


# What they share


def _lines(stream: BinaryIO, max_bytes: int, faults: Faults) -> Iterator[str]:
    """As `text_lines`; of lines that are not UTF-8 the first is named, for the others say the same about the file."""
    found = Faults()
    yield from text_lines(stream, max_bytes, found)
    wrong = [fault for fault in found.listed if fault.message.startswith(NOT_UTF8)]
    for fault in wrong[:1] + [fault for fault in found.listed if fault not in wrong]:
        faults.add(fault.line, fault.place, fault.message)


def _column_names(line: int | None, given: Iterable[str]) -> tuple[str, ...]:
    """The names without spaces around them. Raises FormatErrors with everything that is wrong with them."""
    names = [_LINE_END.sub(" ", name.strip()) for name in given]
    if not names:
        raise _refusal(_NO_ROW)
    if len(names) > MOST_COLUMNS:
        raise FormatErrors([Fault(line, "", too_many_cells(len(names)))])
    faults = Faults()
    if blank := [str(number) for number, name in enumerate(names, 1) if not name]:
        which = f"column {blank[0]}" if len(blank) == 1 else f"the columns {listed(blank)}"
        why = "give each column one name of its own, and split merged cells"
        faults.add(line, "", f"the line with the names has none for {which}: {why}")
    if twice := [quoted(name) for name in repeated(names) if name]:
        faults.add(line, "", f"the line with the names has {listed(twice)} more than once: rename one of the columns")
    for name in names:
        if len(name) > LONGEST_NAME:
            faults.add(line, quoted(name), f"is a name of {len(name):,} characters, the limit is {LONGEST_NAME}")
        if message := unwanted(name):
            faults.add(line, quoted(name), message)
    faults.refuse()
    return tuple(names)


class _Number(str):
    """A number of a JSON text, as it is written there."""


def _texts_of(line: str) -> Any:
    """The object of a line with its values as texts; what is no object, as it is."""
    given = json.loads(line, object_pairs_hook=_each_once, parse_int=_Number, parse_float=_Number)
    if type(given) is not dict:
        return json.loads(line)
    nested = [name for name, value in given.items() if isinstance(value, dict | list)]
    if nested:
        # Their numbers are to be numbers again.
        plain = json.loads(line)
        given |= {name: plain[name] for name in nested}
    return {name: _text(value) for name, value in given.items()}


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = repeated(name for name, _ in pairs)
        raise UnfitJsonError(f"has the field {quoted(names[0])} more than once: remove one of them")
    return found


def _text(value: Any) -> str:
    if isinstance(value, str):
        return str(value).replace("\r\n", "\n")
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False)
