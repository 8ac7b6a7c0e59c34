"""Spans of a text as tags of its tokens, and tags as spans.

Tokens are words, as they can be marked, and every other sign by itself. Tags are O, B-<label> for the first token of a
span and I-<label> for the others. A token that a span covers in part is tagged as a whole. A token has one tag: of
spans that overlap the longest is kept, of equally long ones the one that begins first, then the label that comes first
in the alphabet.
"""

from __future__ import annotations

from collections.abc import Sequence

from hits.text.language.words import units

Span = tuple[int, int, str]
"""(start, end, label) by characters, the end exclusive."""
OUTSIDE = "O"


def tokens(text: str) -> list[tuple[int, int]]:
    """(start, end) of every word and of every other sign that is no space."""
    found, at = [], 0
    for start, end in [*units(text), (len(text), len(text))]:
        found += [(sign, sign + 1) for sign in range(at, start) if not text[sign].isspace()]
        found += [(start, end)] if start < end else []
        at = end
    return found


def flat(spans: Sequence[Span]) -> list[Span]:
    """Those that are kept: none overlaps another."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span[0] - span[1], span[0], span[2])):
        if not any(span[0] < other[1] and other[0] < span[1] for other in kept):
            kept.append(span)
    return sorted(kept)


def tagged(places: Sequence[tuple[int, int]], spans: Sequence[Span]) -> list[str]:
    """The tag of each token. `spans` as `flat` returns them; one that began before the first token begins anew."""
    tags: list[str] = []
    before: Span | None = None
    for start, end in places:
        over = next((span for span in spans if span[0] < end and start < span[1]), None)
        tags.append(OUTSIDE if over is None else f"{'I' if over is before else 'B'}-{over[2]}")
        before = over
    return tags


def untagged(places: Sequence[tuple[int, int]], tags: Sequence[str]) -> tuple[Span, ...]:
    """The spans of tags, in order. I-<label> after anything but a tag of that label begins a span too."""
    spans: list[Span] = []
    before = OUTSIDE
    for (start, end), tag in zip(places, tags, strict=True):
        if tag.startswith("I-") and before[2:] == tag[2:] and before != OUTSIDE:
            spans[-1] = (spans[-1][0], end, tag[2:])
        elif tag != OUTSIDE:
            spans.append((start, end, tag[2:]))
        before = tag
    return tuple(spans)
