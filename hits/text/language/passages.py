"""Where the paragraphs, bullets and entities of a passage are. The text itself is never changed.

A passage is the lead, followed by bullets that are each announced by `@highlight`. Offsets point into the
original text. Spans of mentions are (start, inclusive end), as ReCoRD has them; ends of parts are exclusive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

MARKER = "@highlight"
_LINE = re.compile(r"[^\n]+")
_MARKED = re.compile(rf"\s*{MARKER}(?!\w)[^\S\n]*")
_POSSESSIVE = re.compile(r"['\u2019]s?$")


@dataclass(frozen=True)
class Part:
    """One paragraph or bullet: text[start:end], without the marker."""

    kind: Literal["paragraph", "bullet"]
    start: int
    end: int


def _lines(text: str) -> Iterator[tuple[bool, int, int]]:
    """(announced by a marker, start, end) of every line that holds more than a marker and blanks."""
    marked = False
    for line in _LINE.finditer(text):
        marker = _MARKED.match(text, line.start(), line.end())
        marked = marked or marker is not None
        start = marker.end() if marker else line.start()
        if text[start : line.end()].strip():
            yield marked, start, line.end()
            marked = False


def passage_parts(text: str) -> list[Part]:
    """The parts in order of the text. Everything but line ends, blank lines and markers lies in exactly one.

    A bullet is the rest of the marker's own line or, as in ReCoRD, the next line that is not blank.
    """
    return [Part("bullet" if marked else "paragraph", start, end) for marked, start, end in _lines(text)]


def entity_name(surface: str) -> str:
    """What makes two mentions the same entity: the name without case, spacing and possessive ending."""
    name = " ".join(surface.casefold().split())
    return _POSSESSIVE.sub("", name)


def mention_groups(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """A group number for every mention, in the order of `spans`, counted from 0 by first appearance.

    Reference answers take no part: a group drawn from them would show a worker which answer is right.
    """
    numbers: dict[str, int] = {}
    names = (entity_name(text[start : end + 1]) for start, end in spans)
    return [numbers.setdefault(name, len(numbers)) for name in names]
