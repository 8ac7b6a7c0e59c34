"""What a lead writes to pay somebody: an amount, a reason, and a file of bonuses (CSV with a head, one a line)."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from hits.formats.files.encodings import decoded
from hits.formats.files.faults import Faults, counted
from hits.formats.files.reading import MOST_COLUMNS, CsvLines, lines_of, repeated, sentence, too_large, too_many_cells

REQUIRED = ("assignment_id", "amount", "reason")
OPTIONAL = ("worker_id",)
MOST_LINES = 10_000
MOST_BYTES = 8 * 1024 * 1024
# What the marketplace delivers to a worker's inbox in one piece, and pays at once.
LONGEST_REASON = 4096
LARGEST = Decimal("10000.00")
_AMOUNT = re.compile(r"[0-9]{1,8}(\.[0-9]{1,2})?")
_WORKER_ID = re.compile(r"A[A-Z0-9]{1,63}")
# A line with a reason of the greatest length is far shorter.
LONGEST_ROW = 65_536
_LINE_END = re.compile(r"[\r\n]")
_DELIMITERS = ",;\t"
_WHOLE = f"Columns: {', '.join(REQUIRED)}, and {', '.join(OPTIONAL)} if you like."


def read_amount(text: str) -> Decimal:
    """Dollars and cents. Raises ValueError with a sentence that says how to write it."""
    if not _AMOUNT.fullmatch(text):
        raise ValueError(f"The amount “{text[:40]}” is not dollars and cents, such as 1.50.")
    amount = Decimal(text)
    if not 0 < amount <= LARGEST:
        raise ValueError(f"The amount {text} is out of range: $0.01 to ${LARGEST:,.2f} can be paid at once.")
    return amount.quantize(Decimal("0.01"))


def read_reason(text: str) -> str:
    """A text that the worker will read, in the form in which it is sent. Raises ValueError with a sentence."""
    reason = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not reason:
        raise ValueError("The reason is missing: the worker reads it.")
    if len(reason) > LONGEST_REASON:
        raise ValueError(f"The reason has {len(reason):,} characters; at most {LONGEST_REASON:,} are delivered.")
    # Neither XML nor the database keeps them, so what comes back would differ from what was sent.
    if any(unicodedata.category(char) in ("Cc", "Cs", "Cn") and char not in "\n\t" for char in reason):
        raise ValueError("The reason holds characters that are not text, such as control characters.")
    return reason


def read_worker_id(text: str) -> str:
    """A worker's id at the marketplace. Raises ValueError with a sentence."""
    if not _WORKER_ID.fullmatch(text):
        raise ValueError(f"“{text[:64]}” is no worker id: it begins with A and goes on in capitals and digits.")
    return text


@dataclass(frozen=True)
class AskedBonus:
    """One line as it was written, without the space around its cells. `line` counts from 1."""

    line: int | None
    assignment_id: str
    amount: str
    reason: str
    worker_id: str = ""


def read_bonus_file(content: bytes, faults: Faults) -> list[AskedBonus]:
    """The lines of a file in UTF-8, with or without BOM, its cells parted by commas, semicolons or tabs.

    What cannot be read is added to `faults`; the lines that can be read come back all the same, so that their
    faults can be named together with these.
    """
    text = _text(content, faults)
    if text is None:
        return []
    records = _records(text, faults)
    columns = _columns(next(records, (1, []))[1], faults)
    if columns is None:
        return []
    return _bonuses(records, columns, faults)


def _text(content: bytes, faults: Faults) -> str | None:
    if len(content) > MOST_BYTES:
        size, most = len(content) / 1e6, MOST_BYTES / 1e6
        faults.add(None, "", f"The file has {size:,.1f} MB; at most {most:,.1f} MB are taken at once. Split it.")
        return None
    try:
        text = decoded(content)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        faults.add(line, "", "This is neither UTF-8 nor UTF-16. Save the file as “CSV UTF-8”.")
        return None
    if "\0" in text:
        faults.add(text.count("\n", 0, text.index("\0")) + 1, "", "There is a NUL byte: this is not a text file.")
        return None
    if not text.strip():
        faults.add(None, "", f"The file is empty. {_WHOLE}")
        return None
    return text


def _delimiter(head: str) -> str:
    """The one that finds most of the columns in the head; a comma when none does."""

    def known(delimiter: str) -> int:
        cells = {cell.strip(' "').lower() for cell in head.split(delimiter)}
        return len({*REQUIRED, *OPTIONAL} & cells)

    return max(_DELIMITERS, key=known)


def _records(text: str, faults: Faults) -> Iterator[tuple[int, list[str]]]:
    """(first line, cells); a record may go over several lines where its cells are quoted."""
    head = _LINE_END.split(text[:LONGEST_ROW].lstrip("\r\n"), maxsplit=1)[0]
    source = CsvLines(lines_of(text), LONGEST_ROW)
    reader = csv.reader(source, delimiter=_delimiter(head), strict=True)
    read = 0
    while True:
        line = reader.line_num + 1
        source.size = 0
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            what = sentence(too_large(error)) or f"The quotes of this line do not match ({error})"
            faults.add(line, "", f"{what}, so nothing after it can be read.")
            return
        if len(cells) > MOST_COLUMNS:
            faults.add(line, "", f"{sentence(too_many_cells(len(cells)))}, so nothing after it can be read.")
            return
        cells = [cell.strip() for cell in cells]
        if any(cells):
            if read > MOST_LINES:
                faults.add(line, "", f"At most {MOST_LINES:,} bonuses are taken at once. Split the file.")
                return
            read += 1
            yield line, cells


def _columns(head: Sequence[str], faults: Faults) -> list[str] | None:
    names = [cell.lower() for cell in head]
    missing = [name for name in REQUIRED if name not in names]
    unknown = [name for name in names if name not in (*REQUIRED, *OPTIONAL)]
    twice = repeated(names)
    if missing:
        faults.add(1, "", f"The first line lacks {', '.join(missing)}. {_WHOLE}")
    if unknown:
        shown = ", ".join(f"“{name[:40]}”" for name in unknown[:5])
        faults.add(1, "", f"The first line has columns that mean nothing here: {shown}. {_WHOLE}")
    if twice:
        faults.add(1, "", f"The first line has {', '.join(name[:40] for name in twice[:5])} more than once.")
    return None if missing or unknown or twice else names


def _bonuses(records: Iterator[tuple[int, list[str]]], columns: list[str], faults: Faults) -> list[AskedBonus]:
    found: list[AskedBonus] = []
    for line, cells in records:
        if len(cells) != len(columns):
            faults.add(
                line,
                "",
                f"{counted(len(cells), 'cell')} where the first line has {len(columns)}. Quote a text that holds "
                "commas.",
            )
            continue
        found.append(AskedBonus(line, **dict(zip(columns, cells, strict=True))))
    if not found and not faults.count:
        faults.add(None, "", "The file holds no bonus below its first line.")
    return found
