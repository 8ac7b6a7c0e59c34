"""Spans of a text that two people marked: which of them match. A span is (start, end, label), end exclusive."""

from __future__ import annotations

from collections.abc import Collection, Iterable

Span = tuple[int, int, str]


def shares(span: Span, others: Iterable[Span]) -> bool:
    """Whether one of the others has the same label and at least one character in common."""
    return any(span[0] < other[1] and other[0] < span[1] and span[2] == other[2] for other in others)


def matched(one: Collection[Span], other: Collection[Span]) -> int:
    """The spans of both that share something with one of the other's."""
    return sum(shares(span, other) for span in one) + sum(shares(span, one) for span in other)


def span_distance(one: Collection[Span], other: Collection[Span]) -> float:
    """1 - overlapping F1; 0 where neither marked anything."""
    marked = len(one) + len(other)
    return 1 - matched(one, other) / marked if marked else 0.0
