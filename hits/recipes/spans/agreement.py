"""How far workers agree who marked spans of the same text. Pure.

Every two workers of a text are compared. F1 of two sets of spans is (A's spans with a counterpart in B + B's spans with
one in A) / (spans of A + spans of B), over all pairs of all texts together: one who marks much counts for more. For
`exact` the counterpart is the same span with the same label, and this is the usual F1 whichever of the two is taken
for the reference. For `overlapping` it has the same label and shares at least one character. Two workers who both
marked nothing agree, and change no sum.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from hits.stats.agreement import overlap
from hits.stats.agreement.overlap import Span


@dataclass
class Tally:
    matched: int = 0
    marked: int = 0

    def add(self, matched: int, marked: int) -> None:
        self.matched += matched
        self.marked += marked

    @property
    def f1(self) -> float | None:
        """In percent; None where nobody marked anything."""
        return 100 * self.matched / self.marked if self.marked else None


@dataclass
class Agreement:
    """Sums over the texts that were added, in all and by label."""

    pairs: int = 0
    exact: Tally = field(default_factory=Tally)
    overlapping: Tally = field(default_factory=Tally)
    exact_by_label: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    overlapping_by_label: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))

    def add(self, answers: Sequence[Collection[Span]]) -> None:
        """The spans of each worker of one text."""
        for one, other in combinations(answers, 2):
            self.pairs += 1
            self._add_pair(one, other)

    def _add_pair(self, one: Collection[Span], other: Collection[Span]) -> None:
        for label in {span[2] for span in (*one, *other)}:
            mine, theirs = (sorted(span for span in spans if span[2] == label) for spans in (one, other))
            marked = len(mine) + len(theirs)
            same = 2 * len(set(mine) & set(theirs))
            shared = overlap.matched(mine, theirs)
            for tally, matched in (
                (self.exact, same),
                (self.exact_by_label[label], same),
                (self.overlapping, shared),
                (self.overlapping_by_label[label], shared),
            ):
                tally.add(matched, marked)
