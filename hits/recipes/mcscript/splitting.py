"""Which texts go to test, dev and train (Ostermann et al. 2019, section 5): all texts of a few scenarios are test's.

Where the paper leaves a choice:
- Shares are of texts, as its numbers of texts are given; a text that came twice is in one split.
- Of the scenarios that are drawn only those are set apart whose texts fit into test's share, so that a small
  collection keeps something to learn from. What test then lacks comes from all other texts at random, as dev does.
- A text without a scenario belongs to none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from hits.recipes.sampling import sample

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class ToldText:
    """A text as the split sees it: `digest`, in hexadecimal digits, is the same for texts that are the same."""

    digest: str
    scenario: str


@dataclass(frozen=True)
class Split:
    """Which texts are "test" and "dev"; the rest is "train". `apart` are the scenarios that only test has."""

    parts: Mapping[str, str]
    apart: tuple[str, ...]
    notes: tuple[str, ...]

    def part(self, digest: str) -> str:
        return self.parts.get(digest, "train")


def split(texts: Iterable[ToldText], *, scenarios: int, test_share: float, dev_share: float, seed: int) -> Split:
    """At most so many scenarios whole in test, which with dev gets so large a share of all texts.

    The order of `texts` makes no difference, and the same seed gives the same split.
    """
    sizes, told = _grouped(texts)
    total = sum(sizes.values())
    wanted = round(total * test_share)
    drawn = sample(sorted(told), scenarios, f"scenarios {seed}")
    apart, test = _set_apart(drawn, told, sizes, wanted)
    others = sample((digest for digest in sizes if digest not in test), len(sizes), f"split {seed}")
    test |= set(_filled(others, sizes, wanted - _size(test, sizes)))
    dev = _filled([digest for digest in others if digest not in test], sizes, round(total * dev_share))
    parts = {**dict.fromkeys(test, "test"), **dict.fromkeys(dev, "dev")}
    return Split(parts, tuple(apart), tuple(_notes(len(apart), scenarios, len(told), total)))


def _grouped(texts: Iterable[ToldText]) -> tuple[Counter[str], dict[str, set[str]]]:
    """(how often each text came, the texts of each scenario)."""
    sizes, told = Counter[str](), defaultdict[str, set[str]](set)
    for one in texts:
        sizes[one.digest] += 1
        if one.scenario:
            told[one.scenario].add(one.digest)
    return sizes, told


def _size(digests: Iterable[str], sizes: Mapping[str, int]) -> int:
    return sum(sizes[digest] for digest in digests)


def _set_apart(
    drawn: Sequence[str], told: Mapping[str, Set[str]], sizes: Mapping[str, int], room: int
) -> tuple[list[str], set[str]]:
    """(the scenarios that fit, their texts), in the order of the draw."""
    apart, test = list[str](), set[str]()
    for scenario in drawn:
        if _size(test | told[scenario], sizes) <= room:
            apart.append(scenario)
            test |= told[scenario]
    return apart, test


def _filled(order: Iterable[str], sizes: Mapping[str, int], room: int) -> list[str]:
    """The texts, in their order, for which there is room."""
    taken = []
    for digest in order:
        if sizes[digest] <= room:
            taken.append(digest)
            room -= sizes[digest]
    return taken


def _notes(apart: int, wanted: int, there: int, total: int) -> Iterator[str]:
    if not total or apart >= wanted:
        return
    if there and apart == there:
        yield f"Fewer than {wanted} scenarios are in test alone, as there are no more."
    elif there:
        yield f"Fewer than {wanted} scenarios are in test alone, as the texts of more would not fit into its share."
    else:
        yield "No text names its scenario, so no scenario is in test alone."
