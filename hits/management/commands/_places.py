"""Places in a text as somebody types them: START-END in characters, end exclusive, or words that stand there once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from django.core.management.base import CommandError

Span = tuple[int, int]
PLACE_HELP = "A place is START-END in characters, as it is listed, or words that stand there once."
_PLACE = re.compile(r"(\d{1,7})-(\d{1,7})", re.ASCII)


def find(said: str, text: str, within: Iterable[Span] | None = None) -> Span:
    """The place that is meant; with `within`, words count only inside one of these spans. Raises CommandError."""
    if place := _typed(said):
        return place
    wide = [(0, len(text))] if within is None else list(within)
    return _only(said, [one for one in _words(said, text) if any(a <= one[0] and one[1] <= b for a, b in wide)])


def choose(said: str, text: str, among: Iterable[Span]) -> Span:
    """The one of these places that is meant. Raises CommandError."""
    place = _typed(said)
    fits = [one for one in sorted(set(among)) if (one == place if place else text[slice(*one)] == said)]
    return _only(said, fits)


def written(span: Span) -> str:
    return f"{span[0]}-{span[1]}"


def _typed(said: str) -> Span | None:
    found = _PLACE.fullmatch(said)
    return (int(found[1]), int(found[2])) if found else None


def _words(said: str, text: str) -> Iterator[Span]:
    """Whole words only: “put” does not stand in “putty”."""
    if said.strip():
        yield from (found.span() for found in re.finditer(rf"(?<!\w){re.escape(said)}(?!\w)", text))


def _only(said: str, found: list[Span]) -> Span:
    if not found:
        raise CommandError(f"{said!r} does not stand there. Nothing was changed.")
    if len(found) > 1:
        there = ", ".join(map(written, found))
        raise CommandError(f"{said!r} stands there {len(found)} times: name one of {there}. Nothing was changed.")
    return found[0]
