"""CSV for people, who open it in a spreadsheet."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

# Spreadsheets read these as the beginning of a formula, in full width too.
_FORMULA = frozenset("=+-@")
# A spreadsheet begins a cell after these: the separator of many countries, tabs, and ends of lines. Quotes are no
# help, for whoever separates at semicolons sees quotes after a comma as part of the text, and drops those that follow.
_BREAK = re.compile("([;\t\r\n])")
# Most texts have no break, or go on with a letter or figure after each.
_RISKY_BREAK = re.compile("[;\t\r\n](?! ?[A-Za-z0-9])")
# What a formula needs that calls a function, another program or another sheet.
_CALLS = re.compile("[(|!\uff08\uff5c\uff01]")
# Spaces, line and paragraph separators, control characters, characters without width.
_UNSEEN = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})


def harmless(cell: Any) -> Any:
    """Text with an apostrophe wherever a spreadsheet would run what follows as a formula; anything else as it is.

    Numbers are no text: -5 stays a number. `as_written` takes the apostrophes away again.
    """
    if not isinstance(cell, str) or not cell:
        return cell
    if cell[0].isascii() and cell[0].isalnum() and not _RISKY_BREAK.search(cell):
        return cell
    pieces = _BREAK.split(cell)
    pieces[::2] = [f"'{piece}" if _runs(piece, index == 0) else piece for index, piece in enumerate(pieces[::2])]
    # A break at the beginning of a cell ends it or is skipped.
    return f"'{''.join(pieces)}" if _begins_with_break(pieces) else "".join(pieces)


def as_written(cell: str) -> str:
    """The text of which `harmless` made this cell."""
    if "'" not in cell:
        return cell
    pieces = _BREAK.split(cell)
    if pieces[0] and _begins_with_break(pieces):
        pieces[0] = pieces[0][1:]
    pieces[::2] = [
        piece[1:] if piece[:1] == "'" and _runs(piece, index == 0) else piece for index, piece in enumerate(pieces[::2])
    ]
    return "".join(pieces)


def csv_lines(head: Iterable[str], rows: Iterable[Sequence[object]], line_end: str = "\r\n") -> Iterator[str]:
    """The lines of a CSV file as the rows come, each cell made harmless."""
    writer = csv.writer(_Line(), lineterminator=line_end)
    yield str(writer.writerow([harmless(name) for name in head]))
    for row in rows:
        yield str(writer.writerow([harmless(cell) for cell in row]))


class _Line:
    """A file that hands back what is written instead of keeping it."""

    def write(self, line: str) -> str:
        return line


def _runs(piece: str, is_first: bool) -> bool:
    """Lines of a text begin with "- " or "@highlight" too, and stay as they are where they call nothing."""
    skipped = "'" if is_first else "'\""
    first = next((char for char in piece.lstrip(skipped) if unicodedata.category(char) not in _UNSEEN), "")
    sign = unicodedata.normalize("NFKC", first)[:1]
    return sign in _FORMULA and (is_first or sign == "=" or _CALLS.search(piece) is not None)


def _begins_with_break(pieces: Sequence[str]) -> bool:
    return len(pieces) > 1 and not pieces[0].strip("'") and pieces[1] != ";"
