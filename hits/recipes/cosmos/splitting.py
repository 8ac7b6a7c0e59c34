"""Who the best writers are, and which sets go to test, dev and train (Huang et al. 2019, section 2.5)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hits.recipes.partition import nearest_subset


@dataclass(frozen=True, slots=True)
class WrittenSet:
    """A question set as the split sees it. `author` is empty where nobody knows who wrote it.

    `paragraph` is a digest: sets with the same one are about the same text.
    """

    paragraph: bytes
    author: str
    kept: bool


@dataclass(frozen=True)
class Writer:
    worker: str
    written: int
    kept: int

    @property
    def share(self) -> float:
        return self.kept / self.written


@dataclass(frozen=True)
class Split:
    """Which paragraphs are "test" and "dev"; the rest is "train". `notes` are sentences on what was not as wanted."""

    parts: Mapping[bytes, str]
    notes: tuple[str, ...]

    def part(self, paragraph: bytes) -> str:
        return self.parts.get(paragraph, "train")


def writers(sets: Iterable[WrittenSet]) -> list[Writer]:
    """Those who wrote anything, the most diligent first."""
    written, kept = Counter[str](), Counter[str]()
    for one in sets:
        if one.author:
            written[one.author] += 1
            kept[one.author] += one.kept
    found = [Writer(worker, count, kept[worker]) for worker, count in written.items()]
    return sorted(found, key=lambda writer: (-writer.kept, writer.worker))


def best(found: Iterable[Writer], *, least_written: int, least_share: float) -> frozenset[str]:
    return frozenset(w.worker for w in found if w.written >= least_written and w.share >= least_share)


def split(sets: Iterable[WrittenSet], best_writers: frozenset[str], *, test: int, dev: int, seed: int) -> Split:
    """Test and dev from paragraphs whose kept sets are all by the best writers, whole paragraphs; the rest is train.

    Where the best writers have fewer than `test + dev` kept sets, both shrink alike. The order of `sets` does not
    matter, and the same seed gives the same split. What stays in memory is a number for each paragraph.
    """
    sizes = _sizes(sets, best_writers)
    fit = sorted(sizes)
    random.Random(f"split {seed}").shuffle(fit)
    there = sum(sizes.values())
    share = min(1.0, there / (test + dev)) if test + dev else 0.0
    for_test, rest = _taken(sizes, fit, round(test * share))
    for_dev, _ = _taken(sizes, rest, round(dev * share))
    parts = {**dict.fromkeys(for_test, "test"), **dict.fromkeys(for_dev, "dev")}
    return Split(parts, tuple(_notes(there, test, dev)))


def _sizes(sets: Iterable[WrittenSet], best_writers: frozenset[str]) -> dict[bytes, int]:
    """How many kept sets a paragraph has, where all of them are by the best writers."""
    sizes: dict[bytes, int] = {}
    for one in sets:
        if one.kept:
            # Below nought is a paragraph that somebody else wrote about, too.
            there = sizes.get(one.paragraph, 0)
            sizes[one.paragraph] = there + 1 if there >= 0 and one.author in best_writers else -1
    return {paragraph: size for paragraph, size in sizes.items() if size > 0}


def _taken(sizes: Mapping[bytes, int], order: Sequence[bytes], wanted: int) -> tuple[list[bytes], list[bytes]]:
    """(paragraphs with as near to `wanted` sets as whole paragraphs allow, the others)."""
    chosen = nearest_subset([sizes[paragraph] for paragraph in order], Fraction(wanted))
    taken = [paragraph for paragraph, is_in in zip(order, chosen, strict=True) if is_in]
    rest = [paragraph for paragraph, is_in in zip(order, chosen, strict=True) if not is_in]
    return taken, rest


def _notes(there: int, test: int, dev: int) -> list[str]:
    if not there:
        return ["No kept set is by one of the best writers, so dev and test are empty. Lower the thresholds."]
    if there < test + dev:
        return [f"The best writers have {there:,} kept sets, fewer than {test + dev:,}: dev and test shrink alike."]
    return []
