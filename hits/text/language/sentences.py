"""Where the sentences of an everyday text begin and end. The text itself is never changed.

The rules are sentencex's (Wikimedia): abbreviations, initials, quotations, brackets and ellipses, in ordinary and in
pre-tokenised spelling. A blank line ends a sentence whatever stands before it; a single line end does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import sentencex

_BLANK = re.compile(r"[^\S\n]")
_GAP = re.compile(r"\n[ \n]*\n")
_OPENING_QUOTE = re.compile(r"(?<!\w)[\"'\u2018-\u201f](?=\w)")
_OTHER_MARK = re.compile(r"[\"\u2018\u201a-\u201f()\[\]{}]|['\u2019](?!\w)|(?<!\w)['\u2019]")
# Quotations and brackets stay whole, so a mark without its fellow would swallow whatever follows.
_LONGEST_WHOLE = 40


@dataclass(frozen=True)
class Sentence:
    """text[start:end], without the space around it."""

    start: int
    end: int
    text: str


def _plain_spaces(text: str) -> str:
    """The text with an ordinary space for every other one, and no space in blank lines; of the same length.

    sentencex stops with an error at a name's initial after a space of several bytes, such as U+00A0.
    """
    return _GAP.sub(lambda gap: "\n" * len(gap[0]), _BLANK.sub(" ", text))


def _without_marks(text: str) -> str:
    """The text with letters and spaces for its quotation marks and brackets; of the same length."""
    return _OTHER_MARK.sub(" ", _OPENING_QUOTE.sub("A", text))


def _spans(text: str, language: str) -> Iterator[tuple[int, int]]:
    for found in sentencex.get_sentence_boundaries(language, text):
        yield found["start_index"], found["end_index"]


def _short_spans(text: str, language: str) -> Iterator[tuple[int, int]]:
    """What is too long is split again, across quotations and brackets."""
    for start, end in _spans(text, language):
        piece = text[start:end]
        if len(piece.split()) <= _LONGEST_WHOLE:
            yield start, end
        else:
            yield from ((start + a, start + b) for a, b in _spans(_without_marks(piece), language))


def sentences(text: str, *, language: str = "en") -> list[Sentence]:
    """The sentences in order. Every character that is no space lies in exactly one of them.

    `language` is an ISO 639 code; for one that is unknown, the rules that most languages share are taken.
    """
    found = []
    for start, end in _short_spans(_plain_spaces(text), language):
        piece = text[start:end]
        if bare := piece.strip():
            start += len(piece) - len(piece.lstrip())
            found.append(Sentence(start, start + len(bare), bare))
    return found
