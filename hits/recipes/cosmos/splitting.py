"""Who the best writers are, and which sets go to test, dev and train (Huang et al. 2019, section 2.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from hits.recipes.dealing import NONE, Group, Splits, deal

HELD_OUT = frozenset({"test", "dev"})
OTHER_WRITER = "not by one of the best writers, and about a paragraph of test or dev"


@dataclass(frozen=True, slots=True)
class WrittenSet:
    """A question set as the split sees it. `author` is empty where nobody knows who wrote it.

    `paragraph` is a digest: sets with the same one are about the same text. `earlier` are the splits in which the set
    was released before, `paragraph_earlier` those in which any set about the paragraph was.
    """

    paragraph: str
    author: str
    kept: bool
    earlier: Splits = NONE
    paragraph_earlier: Splits = NONE


@dataclass(frozen=True)
class Writer:
    """`held_out`: a set of theirs was released in test or dev, so they are among the best from then on."""

    worker: str
    written: int
    kept: int
    held_out: bool = False

    @property
    def share(self) -> float:
        return self.kept / self.written


@dataclass(frozen=True)
class Split:
    """The split of each paragraph with a kept set. `notes` are sentences on what was not as wanted."""

    parts: Mapping[str, str]
    best_writers: frozenset[str]
    notes: tuple[str, ...]

    def part(self, one: WrittenSet) -> str:
        """train, dev or test, or why the set is left out."""
        part = self.parts[one.paragraph]
        is_new = part in HELD_OUT and part not in one.earlier
        return OTHER_WRITER if is_new and one.author not in self.best_writers else part


def writers(sets: Iterable[WrittenSet]) -> list[Writer]:
    """Those who wrote anything, the most diligent first."""
    written, kept, held_out = Counter[str](), Counter[str](), set[str]()
    for one in sets:
        if one.author:
            written[one.author] += 1
            kept[one.author] += one.kept
            if one.earlier & HELD_OUT:
                held_out.add(one.author)
    found = [Writer(worker, count, kept[worker], worker in held_out) for worker, count in written.items()]
    return sorted(found, key=lambda writer: (-writer.kept, writer.worker))


def best(found: Iterable[Writer], *, least_written: int, least_share: float) -> frozenset[str]:
    return frozenset(w.worker for w in found if w.held_out or (w.written >= least_written and w.share >= least_share))


def split(
    sets: Iterable[WrittenSet],
    best_writers: frozenset[str],
    *,
    test: int,
    dev: int,
    seed: int,
    held_out_share: float = 1.0,
) -> Split:
    """Test and dev from paragraphs whose kept sets are all by the best writers, whole paragraphs; the rest is train.

    A paragraph that was released before stays where it was (`hits.recipes.dealing`). Where the best writers have fewer
    than `test + dev` kept sets, or these are more than `held_out_share` (0..1) of all kept sets, both shrink alike. The
    order of `sets` does not matter, and the same seed gives the same split. What stays in memory is a number for each
    paragraph.
    """
    groups = _groups(sets, best_writers)
    fit = sum(group.size for group in groups if (group.earlier or group.fit or NONE) & HELD_OUT)
    share = min(Fraction(1), Fraction(fit, test + dev)) if test + dev else Fraction(0)
    everything = sum(group.size for group in groups)
    most = Fraction(str(held_out_share)) * everything / (test + dev) if test + dev else Fraction(0)
    targets = {"test": round(test * min(share, most)), "dev": round(dev * min(share, most))}
    dealing = deal(groups, targets, seed=seed)
    wanted = min(test + dev, round(Fraction(str(held_out_share)) * everything))
    # With those that stand in train, so that a release that is made again says the same.
    by_best = sum(group.size for group in groups if (group.earlier | (group.fit or NONE)) & HELD_OUT)
    return Split(dealing.parts, best_writers, (*_notes(by_best, wanted), *dealing.notes))


def _groups(sets: Iterable[WrittenSet], best_writers: frozenset[str]) -> list[Group[str]]:
    """The paragraphs with a kept set; those with a set by somebody else are not fit for test and dev."""
    sizes, earlier, by_others = Counter[str](), dict[str, Splits](), set[str]()
    for one in sets:
        sizes[one.paragraph] += one.kept
        if stood := one.earlier | one.paragraph_earlier:
            earlier[one.paragraph] = earlier.get(one.paragraph, NONE) | stood
        if one.kept and one.author not in best_writers:
            by_others.add(one.paragraph)
    return [
        Group(paragraph, size, earlier.get(paragraph, NONE), NONE if paragraph in by_others else HELD_OUT)
        for paragraph, size in sizes.items()
        if size
    ]


def _notes(fit: int, wanted: int) -> Iterator[str]:
    if not fit:
        yield "No kept set is by one of the best writers, so dev and test are empty. Lower the thresholds."
    elif fit < wanted:
        yield f"The best writers have {fit:,} kept sets, fewer than {wanted:,}: dev and test shrink alike."
