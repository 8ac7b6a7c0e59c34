"""Who the best writers are, and which sets go to test, dev and train (Huang et al. 2019, section 2.5)."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hits.recipes.partition import nearest_subset


@dataclass(frozen=True, slots=True)
class WrittenSet:
    """A question set as the split sees it. `author` is empty where nobody knows who wrote it.

    Sets with the same `paragraph` are about the same text.
    """

    key: str
    paragraph: str
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
    """Set key to "test", "dev" or "train", kept sets only; `notes` are sentences on what was not as wanted."""

    of: Mapping[str, str]
    notes: tuple[str, ...]


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


def split(sets: Sequence[WrittenSet], best_writers: frozenset[str], *, test: int, dev: int, seed: int) -> Split:
    """Test and dev from paragraphs whose kept sets are all by the best writers, whole paragraphs; the rest is train.

    Where the best writers have fewer than `test + dev` kept sets, both shrink alike. The order of `sets` does not
    matter, and the same seed gives the same split.
    """
    groups = _paragraphs(sets)
    fit = sorted(p for p, group in groups.items() if all(one.author in best_writers for one in group))
    random.Random(f"split {seed}").shuffle(fit)
    there = sum(len(groups[paragraph]) for paragraph in fit)
    share = min(1.0, there / (test + dev)) if test + dev else 0.0
    for_test, rest = _taken(groups, fit, round(test * share))
    for_dev, _ = _taken(groups, rest, round(dev * share))
    parts = {**dict.fromkeys(for_test, "test"), **dict.fromkeys(for_dev, "dev")}
    found = {one.key: parts.get(paragraph, "train") for paragraph, group in groups.items() for one in group}
    return Split(found, tuple(_notes(there, test, dev)))


def _paragraphs(sets: Iterable[WrittenSet]) -> dict[str, list[WrittenSet]]:
    groups: dict[str, list[WrittenSet]] = defaultdict(list)
    for one in sets:
        if one.kept:
            groups[one.paragraph].append(one)
    return groups


def _taken(
    groups: Mapping[str, Sequence[WrittenSet]], order: Sequence[str], wanted: int
) -> tuple[list[str], list[str]]:
    """(paragraphs with as near to `wanted` sets as whole paragraphs allow, the others)."""
    chosen = nearest_subset([len(groups[paragraph]) for paragraph in order], Fraction(wanted))
    taken = [paragraph for paragraph, is_in in zip(order, chosen, strict=True) if is_in]
    rest = [paragraph for paragraph, is_in in zip(order, chosen, strict=True) if not is_in]
    return taken, rest


def _notes(there: int, test: int, dev: int) -> list[str]:
    if not there:
        return ["No kept set is by one of the best writers, so dev and test are empty. Lower the thresholds."]
    if there < test + dev:
        return [f"The best writers have {there:,} kept sets, fewer than {test + dev:,}: dev and test shrink alike."]
    return []
