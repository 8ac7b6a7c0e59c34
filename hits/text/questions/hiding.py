"""A text without some of its sentences.

Source: Ostermann et al. (2019), MCScript2.0, section 3.3: the sentences that questions were asked about are taken out
of the text, so that their answers have to come from common sense. No gap is shown, there as here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# (start, end) in characters, the end exclusive; JSON has lists where Python has tuples.
Span = Sequence[int]

_LINE_END = re.compile("\r\n|[\n\v\f\r\x85\u2028\u2029]")


@dataclass(frozen=True)
class Piece:
    """A run of the text that is hidden or is not."""

    text: str
    hidden: bool


def merged(hidden: Sequence[Span], length: int) -> list[tuple[int, int]]:
    """The spans in order, overlapping and touching ones as one, cut to a text of that length; empty ones go."""
    found: list[tuple[int, int]] = []
    for start, end in sorted((max(start, 0), min(end, length)) for start, end in hidden):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        elif start < end:
            found.append((start, end))
    return found


def pieces(text: str, hidden: Sequence[Span]) -> list[Piece]:
    """The whole text in order, in runs that are hidden and runs that are not; together they are the text."""
    return [piece for piece in _pieces(text, hidden) if piece.text]


def _pieces(text: str, hidden: Sequence[Span]) -> Iterator[Piece]:
    at = 0
    for start, end in merged(hidden, len(text)):
        yield Piece(text[at:start], hidden=False)
        yield Piece(text[start:end], hidden=True)
        at = end
    yield Piece(text[at:], hidden=False)


def visible(text: str, hidden: Sequence[Span]) -> str:
    """The text without the hidden spans and without outer space.

    Where something was taken out there is one space, or the paragraph or line break that stood on either side.
    Everything else stays as it is.
    """
    found = ""
    for piece in pieces(text, hidden):
        if not piece.hidden:
            found = _joined(found, piece.text)
    return found.strip()


def _joined(before: str, after: str) -> str:
    left, right = before.rstrip(), after.lstrip()
    space = max(before[len(left) :], after[: len(after) - len(right)], key=_line_ends)
    return left + ("\n" * min(_line_ends(space), 2) or " ") + right


def _line_ends(space: str) -> int:
    return len(_LINE_END.findall(space))
