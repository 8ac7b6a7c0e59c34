"""How much of each field was typed and pasted, as a worker's page counted it: whole numbers, no key, text or time.

The page posts them in one hidden field (`NAME`), as {field: [typed, pasted, pastes, deletions, pauses, seconds]}.
Anybody can post anything, so what comes back is bounded here, and says nothing for certain.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, fields

# No key of a questionnaire begins like this.
NAME = "_typing"
MOST_FIELDS = 100
LONGEST = 8000
LARGEST = 1_000_000
# Nobody types that many characters a second for as long as an answer takes: above it a count is a mistake or a forgery.
FASTEST = 30


@dataclass(frozen=True)
class Counts:
    """Of a field: `typed` characters came one at a time, `pasted` ones at once by pasting or dropping, in `pastes`.

    `deletions` are acts of deleting, `pauses` those of more than two seconds between two changes, and `seconds` the
    time between changes without the pauses.
    """

    typed: int = 0
    pasted: int = 0
    pastes: int = 0
    deletions: int = 0
    pauses: int = 0
    seconds: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(mine + theirs for mine, theirs in zip(self.as_list(), other.as_list(), strict=True)))

    def as_list(self) -> list[int]:
        """In the order of the page's list."""
        return [getattr(self, one.name) for one in fields(self)]


def read(posted: str, names: Container[str]) -> dict[str, Counts] | None:
    """The counts by field, for the fields of these names; None for what no page of ours posts.

    A page without scripts posts the field empty: then there are none.
    """
    if not posted:
        return {}
    found = _json(posted)
    if not isinstance(found, dict) or len(found) > MOST_FIELDS or not all(map(_is_counts, found.values())):
        return None
    return {name: Counts(*numbers) for name, numbers in found.items() if name in names}


def total(counts: Iterable[Counts]) -> Counts:
    """Of all fields together."""
    return sum(counts, Counts())


def is_possible(counts: Counts, seconds: float) -> bool:
    """Whether somebody could have typed that in the time (s) from accepting to submitting."""
    in_time = counts.typed <= FASTEST * max(seconds, 1) and counts.seconds <= seconds + 5
    pasted_without_pasting = counts.pasted > 0 and counts.pastes == 0
    return in_time and not pasted_without_pasting


def spelled(counts: Mapping[str, Counts]) -> dict[str, list[int]]:
    """As the page posts it."""
    return {name: one.as_list() for name, one in counts.items()}


def _json(posted: str) -> object:
    if len(posted) > LONGEST:
        return None
    try:
        return json.loads(posted)
    except (ValueError, RecursionError):
        return None


def _is_counts(numbers: object) -> bool:
    return (
        isinstance(numbers, list)
        and len(numbers) == len(fields(Counts))
        and all(type(one) is int and 0 <= one <= LARGEST for one in numbers)
    )
