"""Articles whose text came before, found among very many by short fingerprints that can be kept.

Source: A. Broder (1997), On the resemblance and containment of documents, section 3: of the hashes of a text's passages
(`hits.text.originality.near_duplicates.passages`) the smallest 64 are its sketch, and the share of the smallest 64 of
two texts' hashes together that both sketches hold estimates their resemblance. Equal texts have equal sketches; at a
resemblance of 0.5 an estimate lies within 0.12 of it nineteen times in twenty.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from hashlib import blake2b
from heapq import nsmallest
from typing import Any, TypeVar

from hits.text.originality.near_duplicates import passages

SIZE = 64
LEAST = 0.5
# JSON's numbers are exact up to 53 bits.
_BYTES = 6
# Passages that so many texts share are a publisher's and tell nothing.
_MOST_HOLDERS = 50

Key = TypeVar("Key", bound=Hashable)


def fingerprint(text: str) -> list[int]:
    """At most 64 whole numbers below 2**48 in rising order; none for a text without words."""
    return sketch(passages(text))


def sketch(found: Iterable[str]) -> list[int]:
    """The fingerprint of a text with these passages."""
    numbers = (int.from_bytes(blake2b(one.encode(), digest_size=_BYTES).digest(), "big") for one in found)
    return nsmallest(SIZE, set(numbers))


def resemblance(one: Sequence[int], other: Sequence[int]) -> float:
    """Which share of their passages two texts have in common, 0..1, estimated from their fingerprints."""
    union = sorted({*one, *other})[:SIZE]
    return len(set(union).intersection(one, other)) / len(union) if union else 0.0


def duplicates(
    prints: Iterable[tuple[Key, Sequence[int]]],
    *,
    earlier: Iterable[tuple[Key, Sequence[int]]] = (),
    least: float = LEAST,
) -> dict[Key, Key]:
    """Each text that resembles an earlier one at least so much (0..1), with the key of the first such one.

    `prints` are (key, fingerprint) in order, `earlier` those of texts that were taken before and are never named
    themselves. Nothing is held against a text that is named. Time and memory grow with the number of texts alone.
    """
    kept = _Kept()
    for key, own in earlier:
        kept.add(key, own)
    named: dict[Key, Key] = {}
    for key, own in prints:
        first = kept.first_like(own, least)
        if first is None:
            kept.add(key, own)
        else:
            named[key] = first
    return named


class _Kept:
    """The texts so far, by the numbers of their fingerprints."""

    def __init__(self) -> None:
        self.texts: list[tuple[Any, Sequence[int]]] = []
        self.holders: dict[int, list[int]] = defaultdict(list)

    def add(self, key: Hashable, own: Sequence[int]) -> None:
        for number in own:
            if len(self.holders[number]) < _MOST_HOLDERS:
                self.holders[number].append(len(self.texts))
        self.texts.append((key, own))

    def first_like(self, own: Sequence[int], least: float) -> Any:
        lists = [self.holders.get(number, ()) for number in own]
        shared = Counter(at for holders in lists for at in holders)
        # What a full list leaves out may be shared too.
        untold = sum(len(holders) == _MOST_HOLDERS for holders in lists)
        near = (self.texts[at] for at in sorted(shared) if shared[at] + untold >= least * len(own))
        return next((key for key, other in near if resemblance(own, other) >= least), None)
