"""Texts with `{column}` in them, filled from the columns of an item, and Markdown. Values never become markup."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from typing import Any

from hits.text.cells import as_text
from hits.text.markdown import rendered

Columns = Mapping[str, Any]

LONGEST_CELL = 50_000
_PARTS = re.compile(r"\{\{|\}\}|\{([^{}\n]{1,200})\}|[{}]")
# Signs that no text has, between which the number of a value stands while Markdown is read.
_OPEN, _CLOSE = "\ue000", "\ue001"
_HELD = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")
_TAG = re.compile("<[^>]*>")


def faults_of(text: str) -> list[str]:
    """What is wrong with the braces of a text, as the end of a sentence."""
    if any(part[0] in "{}" and len(part[0]) == 1 for part in _PARTS.finditer(text)):
        return ["has a brace that belongs to no {column}: close it, or write {{ or }} for a brace"]
    return []


def columns_in(text: str) -> set[str]:
    """The columns that a text names."""
    return {part[1].strip() for part in _PARTS.finditer(text) if part[1]}


def names_in(text: str) -> int:
    """How often a text names a column."""
    return sum(bool(part[1]) for part in _PARTS.finditer(text))


def said(value: Any) -> str:
    """A value of an item as a text."""
    return "" if value is None else as_text(value)[:LONGEST_CELL]


def filled(text: str, columns: Columns) -> str:
    """The text with the values of the item; a column that it lacks stays as its name in brackets."""
    if "{" not in text and "}" not in text:
        return text
    return _PARTS.sub(lambda part: _piece(part, columns), text)


def _piece(part: re.Match[str], columns: Columns) -> str:
    name = (part[1] or "").strip()
    if not name:
        return part[0][:1]
    return said(columns[name]) if name in columns else f"[{name}]"


def markdown(text: str, columns: Columns) -> str:
    """HTML of a text in Markdown, in which the values of the item stand as plain text.

    HTML in the text is shown as it is written; pictures are left out, and links lead out of the frame.
    """
    values: list[str] = []

    def hold(part: re.Match[str]) -> str:
        values.append(_piece(part, columns))
        return f"{_OPEN}{len(values) - 1}{_CLOSE}"

    own = text.replace(_OPEN, "").replace(_CLOSE, "")
    page = rendered(_PARTS.sub(hold, own))
    return _HELD.sub(lambda found: html.escape(values[int(found[1])]).replace("\n", "<br>"), page)


def of_markdown(text: str) -> str:
    """HTML of a value that is Markdown itself."""
    return rendered(text.replace(_OPEN, "").replace(_CLOSE, ""))


def unreached(text: str) -> set[str]:
    """Columns in places of a Markdown text where no value can stand, such as the address of a link."""
    names = [part[1].strip() for part in _PARTS.finditer(text) if part[1]]
    held = iter(range(len(names)))
    page = rendered(_PARTS.sub(lambda part: f"{_OPEN}{next(held)}{_CLOSE}" if part[1] else part[0][:1], text))
    shown = {int(found[1]) for found in _HELD.finditer(_TAG.sub("", page))}
    return {name for number, name in enumerate(names) if number not in shown}


def listed(value: Any) -> list[Any]:
    """A list from a cell: as it is, or written as JSON. Raises ValueError."""
    found = value
    if isinstance(value, str):
        try:
            found = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise ValueError("is no JSON") from error
    if not isinstance(found, list):
        raise ValueError("is no list")
    return found
