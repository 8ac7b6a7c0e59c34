"""Which texts go to test, dev and train (Ostermann et al. 2019, section 5): all texts of a few scenarios are test's.

Where the paper leaves a choice:
- Shares are of texts, as its numbers of texts are given; a text that came twice is in one split.
- Of the scenarios that are drawn only those are set apart whose texts fit into test's share, so that a small
  collection keeps something to learn from. What test then lacks comes from all other texts at random, as dev does.
- A text without a scenario belongs to none.
- What was released stays where it was (`hits.recipes.dealing`): a scenario that test had alone keeps its later texts
  there, and one with a text in train or dev is no more set apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from hits.recipes.dealing import NONE, Group, Splits, deal
from hits.recipes.sampling import sample

SPLITS = ("train", "dev", "test")
TEST = frozenset({"test"})


@dataclass(frozen=True, slots=True)
class ToldText:
    """A text as the split sees it: `digest`, in hexadecimal digits, is the same for texts that are the same. `earlier`
    are the splits in which it was released before, `was_apart` says whether test had its scenario alone then.
    """

    digest: str
    scenario: str
    earlier: Splits = NONE
    was_apart: bool = False


@dataclass(frozen=True)
class Split:
    """The split of each text. `apart` are the scenarios that only test has."""

    parts: Mapping[str, str]
    apart: tuple[str, ...]
    notes: tuple[str, ...]

    def part(self, digest: str) -> str:
        return self.parts[digest]


def split(texts: Iterable[ToldText], *, scenarios: int, test_share: float, dev_share: float, seed: int) -> Split:
    """At most so many scenarios whole in test, which with dev gets so large a share of all texts.

    The order of `texts` makes no difference, and the same seed gives the same split.
    """
    sizes, told, earlier, was_apart = _grouped(texts)
    total = sum(sizes.values())
    targets = {"test": round(total * test_share), "dev": round(total * dev_share)}
    stood = {scenario: frozenset[str]().union(*(earlier[text] for text in of)) for scenario, of in told.items()}
    # Scenarios that test has alone come first; those with a text elsewhere come not at all.
    order = sample(sorted(told), len(told), f"scenarios {seed}")
    standing = [one for one in order if one in was_apart and stood[one] <= TEST]
    drawn = [one for one in order if not stood[one] and one not in was_apart][: max(0, scenarios - len(standing))]
    apart = _set_apart(standing, drawn, told, sizes, targets["test"])
    set_apart = set().union(*(told[scenario] for scenario in apart))
    groups = [Group(text, size, earlier[text] or (TEST if text in set_apart else NONE)) for text, size in sizes.items()]
    dealing = deal(groups, targets, seed=seed)
    return Split(dealing.parts, tuple(apart), (*_notes(len(apart), scenarios, len(told), total), *dealing.notes))


def _grouped(
    texts: Iterable[ToldText],
) -> tuple[Counter[str], dict[str, set[str]], dict[str, Splits], set[str]]:
    """(times each text came, the texts of each scenario, where each text was released, scenarios that were apart)."""
    sizes, told, earlier, was_apart = Counter[str](), defaultdict[str, set[str]](set), dict[str, Splits](), set[str]()
    for one in texts:
        sizes[one.digest] += 1
        earlier[one.digest] = earlier.get(one.digest, NONE) | one.earlier
        if one.scenario:
            told[one.scenario].add(one.digest)
        if one.was_apart:
            was_apart.add(one.scenario)
    return sizes, told, earlier, was_apart


def _set_apart(
    standing: Sequence[str], drawn: Sequence[str], told: Mapping[str, Set[str]], sizes: Mapping[str, int], room: int
) -> list[str]:
    """Those that stand apart, and of the drawn ones those that fit beside them, in the order of the draw."""
    apart, test = list(standing), set[str]().union(*(told[scenario] for scenario in standing))
    for scenario in drawn:
        if sum(sizes[text] for text in test | told[scenario]) <= room:
            apart.append(scenario)
            test |= told[scenario]
    return apart


def _notes(apart: int, wanted: int, there: int, total: int) -> Iterator[str]:
    if not total or apart >= wanted:
        return
    if there and apart == there:
        yield f"Fewer than {wanted} scenarios are in test alone, as there are no more."
    elif there:
        yield f"Fewer than {wanted} scenarios are in test alone, as the texts of more would not fit into its share."
    else:
        yield "No text names its scenario, so no scenario is in test alone."
