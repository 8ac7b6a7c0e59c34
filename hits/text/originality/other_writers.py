"""Texts that share their wording with a text of another writer, among all texts of a stage.

Source: A. Broder (1997), On the resemblance and containment of documents: a text is kept as a sketch of its passages
(`hits.text.originality.fingerprints`), from which the resemblance of two is estimated. Two texts are compared only
where sketches share numbers: each number's holders, in the order of the texts, are paired with the first of them and
with the one before. So there are at most two pairs a number of a sketch, however many texts share a phrase, and time
and memory grow with the number of texts alone. What is missed: a text whose every shared number has another text
between, which is then paired with that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hits.text.originality.fingerprints import resemblance, sketch
from hits.text.originality.near_duplicates import passages

# Below it, two people who answer the same question can say as much in the same words.
LEAST = 0.5
# Runs of five words that a text has at least, beyond those of what it is about; shorter texts may be equal by chance.
FEWEST_PASSAGES = 6
# Of a sketch: a pair with fewer shared numbers is not compared.
_SHARED = 0.2
_Numbers = NDArray[np.uint64]


@dataclass(frozen=True)
class Nearest:
    """The text of another writer that shares most, by its place; `share` estimates how much of both together, 0..1."""

    other: int
    share: float


def own_sketch(text: str, given: str) -> list[int]:
    """Of the passages that a text has and the text that it is about (`given`) has not; empty for a short one."""
    own = passages(text) - passages(given)
    return sketch(own) if len(own) >= FEWEST_PASSAGES else []


def nearest(writers: Sequence[int], sketches: Sequence[_Numbers], least: float = LEAST) -> dict[int, Nearest]:
    """By place, the earlier text of another writer that is most like it or, where none is, the first later one.

    `writers` and `sketches` are of the same texts, oldest first.
    """
    found: dict[int, Nearest] = {}
    later: dict[int, Nearest] = {}
    for first, second in _pairs(np.asarray(writers, dtype=np.int64), sketches):
        share = resemblance(sketches[first].tolist(), sketches[second].tolist())
        if share < least:
            continue
        if second not in found or share > found[second].share:
            found[second] = Nearest(first, share)
        if first not in later:
            later[first] = Nearest(second, share)
    return {**later, **found}


def _pairs(writers: NDArray[np.int64], sketches: Sequence[_Numbers]) -> list[tuple[int, int]]:
    """(earlier, later) of different writers whose sketches share enough, in order."""
    lengths = np.fromiter(map(len, sketches), dtype=np.int64, count=len(sketches))
    if not lengths.sum():
        return []
    numbers = np.concatenate(sketches)
    owners = np.repeat(np.arange(len(sketches), dtype=np.int64), lengths)
    order = np.argsort(numbers, kind="stable")
    numbers, owners = numbers[order], owners[order]
    same = np.concatenate(([False], numbers[1:] == numbers[:-1]))
    places = np.arange(len(numbers))
    firsts = np.maximum.accumulate(np.where(same, 0, places))
    held = places[same]
    before = np.concatenate((owners[held - 1], owners[firsts[held]][firsts[held] < held - 1]))
    behind = np.concatenate((owners[held], owners[held][firsts[held] < held - 1]))
    different = writers[before] != writers[behind]
    keys, shared = np.unique(before[different] * len(sketches) + behind[different], return_counts=True)
    earlier, later = np.divmod(keys, len(sketches))
    enough = shared >= _SHARED * np.minimum(lengths[earlier], lengths[later])
    return list(zip(earlier[enough].tolist(), later[enough].tolist(), strict=True))
