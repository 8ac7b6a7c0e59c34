"""Dealing items into splits so that nothing that was released ever moves; all recipes, and those of one's own, use it.

What a release had in test stays in test, what it had in dev in dev, what it had in train in train, or it is in no later
release. New groups, such as the items of one passage, are dealt so that the splits come as near to their targets as
whole groups and the earlier ones allow.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from typing import Any, Generic, TypeVar

from hits.recipes.partition import nearest_subset
from hits.recipes.source import ReleasedItem

Key = TypeVar("Key", bound=Hashable)
Splits = frozenset[str]
NONE: Splits = frozenset()
# Where a group stands that may be in no split.
IN_TWO = "released in two splits before, so in none from now on"


class Earlier:
    """In which splits items and groups were released before."""

    def __init__(self, rows: Iterable[ReleasedItem] = ()) -> None:
        self._of_items: dict[str, Splits] = {}
        self._of_groups: dict[str, Splits] = {}
        self._notes: dict[str, str] = {}
        for row in rows:
            self._of_items[row.key] = self._of_items.get(row.key, NONE) | {row.split}
            self._of_groups[row.group] = self._of_groups.get(row.group, NONE) | {row.split}
            if row.note:
                self._notes[row.key] = row.note

    def of_item(self, key: str) -> Splits:
        return self._of_items.get(key, NONE)

    def note(self, key: str) -> str:
        return self._notes.get(key, "")

    def of_group(self, group: str) -> Splits:
        return self._of_groups.get(group, NONE)


NOTHING = Earlier()


@dataclass(frozen=True, slots=True)
class Group(Generic[Key]):
    """`size` items that may not be divided, and the splits in which any of them was released before.

    A new group goes to one of the splits `fit`, or to the rest.
    """

    key: Key
    size: int
    earlier: Splits = NONE
    fit: Splits | None = None


@dataclass(frozen=True)
class Dealing(Generic[Key]):
    """The split of each group; `notes` are sentences on splits that earlier releases keep from their share."""

    parts: Mapping[Key, str]
    notes: tuple[str, ...] = ()


def deal(
    groups: Iterable[Group[Any]], targets: Mapping[str, Fraction | int], *, seed: int | str, rest: str = "train"
) -> Dealing[Any]:
    """Give each group its split: `targets` are items by split, filled in their order; what is left is the `rest`.

    The order of the groups makes no difference, and the same seed gives the same splits.
    """
    listed = sorted((group for group in groups if group.size), key=lambda group: group.key)
    parts = {group.key: _standing(group) for group in listed if group.earlier}
    there = Counter[str]()
    for group in listed:
        there[parts.get(group.key, "")] += group.size
    new = [group for group in listed if not group.earlier]
    random.Random(f"split {seed}").shuffle(new)
    for name, target in targets.items():
        fit = [group for group in new if group.fit is None or name in group.fit]
        chosen = nearest_subset([group.size for group in fit], max(Fraction(0), Fraction(target) - there[name]))
        taken = {group.key for group, is_in in zip(fit, chosen, strict=True) if is_in}
        parts |= dict.fromkeys(taken, name)
        new = [group for group in new if group.key not in taken]
    parts |= {group.key: rest for group in new}
    return Dealing(parts, tuple(_notes(listed, parts, targets)))


def _standing(group: Group[Any]) -> str:
    return next(iter(group.earlier)) if len(group.earlier) == 1 else IN_TWO


def _notes(
    groups: Sequence[Group[Any]], parts: Mapping[Any, str], targets: Mapping[str, Fraction | int]
) -> Iterator[str]:
    """What whole groups alone do not explain."""
    if not any(group.earlier for group in groups):
        return
    largest = max(group.size for group in groups)
    for name, target in targets.items():
        there = sum(group.size for group in groups if parts[group.key] == name)
        if abs(there - Fraction(target)) > largest:
            why = (
                "released in it before stays in it"
                if there > Fraction(target)
                else "released elsewhere before stays there"
            )
            yield f"{there:,} are in {name}, though {round(target):,} would be its share: what was {why}."


def digest_of(text: str) -> str:
    """Names a group by its text: two files, or a clone, may bring the same one."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
