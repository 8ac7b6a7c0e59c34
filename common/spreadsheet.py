"""Cells of CSV files that people open in a spreadsheet."""

from __future__ import annotations

import unicodedata
from typing import Any

# Spreadsheets read these as the beginning of a formula, in full width too.
_FORMULA = frozenset("=+-@")
# At the beginning of a cell these end it or are skipped, and what follows is read as a formula.
_BREAKS = frozenset("\t\r\n")
# Spaces, line and paragraph separators, control characters, characters without width.
_UNSEEN = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})


def harmless(cell: Any) -> Any:
    """Text that a spreadsheet would run as a formula, with an apostrophe before it; anything else as it is.

    Numbers are no text: -5 stays a number.
    """
    if not isinstance(cell, str) or not cell or (cell[0].isascii() and cell[0].isalnum()):
        return cell
    first = next((char for char in cell if unicodedata.category(char) not in _UNSEEN), "")
    runs = cell[0] in _BREAKS or unicodedata.normalize("NFKC", first)[:1] in _FORMULA
    return f"'{cell}" if runs else cell
