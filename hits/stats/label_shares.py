"""How large a share of items has each label, with its uncertainty.

Labels of a second list are given only to items that call for it. ReCoRD's Table 3 takes their shares of those items
(Zhang et al. 2018, section 4: 37 of 75 is 49.3 %), Cosmos QA's Table 2 of all items (Huang et al. 2019, section 2.6: no
number of the 469 that need common sense is 27.2 %, 136 of 500 is), so both are told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hits.stats.intervals import wilson

SEVERAL = "An item can have several labels, so the shares add up to {total:.1f} %, more than 100 %."


@dataclass(frozen=True)
class LabelShare:
    """`count` of the items have the label; `share` of 1, with its 95 % interval."""

    label: str
    count: int
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class SecondShare(LabelShare):
    """`share_of_all` is that of all items, whether they call for the second list or not."""

    share_of_all: float


@dataclass(frozen=True)
class LabelReport:
    """Shares over `n` items, the commonest label first; `note` is empty unless the shares add up to more than 1."""

    n: int
    labels: Sequence[LabelShare]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {"n": self.n, "labels": [asdict(row) for row in self.labels], "note": self.note}

    def within(self, n: int) -> LabelReport:
        """As the report of a second list: these are the items, of all `n`, that call for it."""
        rows = [SecondShare(**vars(row), share_of_all=row.count / n) for row in self.labels]
        return LabelReport(self.n, tuple(rows), self.note)


def has_most(answers: Sequence[Collection[str]]) -> frozenset[str]:
    """The labels that more than half of the answers to one item give."""
    counts = Counter(label for given in answers for label in set(given))
    return frozenset(label for label, count in counts.items() if 2 * count > len(answers))


def label_shares(items: Sequence[Collection[str]]) -> LabelReport:
    """The share of items that have each label; `items` holds the labels of each. Labels nobody has are not listed."""
    counts = Counter(label for labels in items for label in set(labels))
    rows = [_row(label, count, len(items)) for label, count in counts.items()]
    total = 100 * sum(counts.values()) / len(items) if items else 0.0
    note = SEVERAL.format(total=total) if total > 100 else ""
    return LabelReport(len(items), tuple(sorted(rows, key=lambda row: (-row.count, row.label))), note)


def _row(label: str, count: int, n: int) -> LabelShare:
    low, high = wilson(count, n)
    return LabelShare(label, count, count / n, low, high)
