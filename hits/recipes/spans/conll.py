"""Spans as CoNLL: a line a token, the token and its tag with a tab between them, and a blank line after each sentence.

Tokens are words, as they can be marked, and every other sign by itself. Tags are O, B-<label> for the first token of a
span in a sentence and I-<label> for the others. A token that a span covers in part is tagged as a whole. A token has
one tag: of spans that overlap the longest is written, of equally long ones the one that begins first, then the label
that comes first in the alphabet; the others stand in the JSON Lines file alone. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hits.protocols.marked import Span
from hits.text.sentences import sentences
from hits.text.words import units


def tokens(text: str) -> list[tuple[int, int]]:
    """(start, end) of every word and of every other sign that is no space."""
    found, at = [], 0
    for start, end in [*units(text), (len(text), len(text))]:
        found += [(sign, sign + 1) for sign in range(at, start) if not text[sign].isspace()]
        found += [(start, end)] if start < end else []
        at = end
    return found


def flat(spans: Sequence[Span]) -> list[Span]:
    """Those that are written: none overlaps another."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span[0] - span[1], span[0], span[2])):
        if not any(span[0] < other[1] and other[0] < span[1] for other in kept):
            kept.append(span)
    return sorted(kept)


def lines(text: str, spans: Sequence[Span], language: str) -> Iterator[str]:
    """The lines of one text, each with its line feed."""
    written, places = flat(spans), tokens(text)
    for sentence in sentences(text, language=language):
        inside = [place for place in places if sentence.start <= place[0] < sentence.end]
        before: Span | None = None
        for start, end in inside:
            over = next((span for span in written if span[0] < end and start < span[1]), None)
            yield f"{text[start:end]}\t{_tag(over, before)}\n"
            before = over
        yield "\n"


def _tag(over: Span | None, before: Span | None) -> str:
    if over is None:
        return "O"
    return f"{'I' if over is before else 'B'}-{over[2]}"
