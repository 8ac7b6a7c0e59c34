"""How well people do on a finished data set: who answers which texts, and how far they agree and are right.

Source: S. Ostermann et al. (2019), MCScript2.0, section 5.2: five annotators read 60 texts each, 20 of them the same
for all; agreement is averaged over pairs of annotators, accuracy over annotators. Krippendorff's alpha for nominal
values (`hits.stats.agreement.alpha`) corrects agreement for chance.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from hits.stats.agreement.alpha import krippendorff_alpha
from hits.stats.answers import Answers as Table
from hits.stats.intervals import wilson

Answers = Mapping[str, Mapping[str, Hashable]]
"""What each annotator said about each unit that they answered."""


def plan(texts: Sequence[str], *, annotators: int = 5, each: int = 60, common: int = 20, seed: int) -> list[list[str]]:
    """The texts of each annotator, in an order of their own: `common` ones that all have, the others nobody else's.

    The plan depends on the texts and the seed, not on the texts' order. Where there are too few, the common ones are
    filled first and the others are dealt evenly, so that all have as many and some texts may be left. Raises
    ValueError for a text that is named twice, and for numbers that do not fit one another.
    """
    if len(set(texts)) != len(texts):
        raise ValueError("a text is named twice")
    if annotators < 1 or not 0 <= common <= each:
        raise ValueError(f"{annotators} annotators cannot have {each} texts each with {common} in common")
    drawn = random.Random(f"human bound {seed}").sample(sorted(texts), len(texts))
    shared, rest = drawn[:common], drawn[common:]
    own = min(each - common, len(rest) // annotators)
    lists = [shared + rest[at * own : (at + 1) * own] for at in range(annotators)]
    for at, mine in enumerate(lists):
        random.Random(f"human bound {seed} {at}").shuffle(mine)
    return lists


@dataclass(frozen=True)
class Accuracy:
    """`correct` of `n` answers are right; `share` of 1, with its 95 % interval, None without answers."""

    annotator: str
    n: int
    correct: int
    share: float | None
    low: float
    high: float


@dataclass(frozen=True)
class Agreement:
    """Two annotators said the same of `same` of the `n` units that both answered; `share` of 1."""

    annotators: tuple[str, str]
    n: int
    same: int
    share: float


@dataclass(frozen=True)
class HumanBound:
    """`accuracy` and `agreement` are means of the rows' shares, each row counting as much; None without rows.

    `alpha` is Krippendorff's, at most 1, and 0 where annotators agree no more than by chance; None where it is not
    defined: no unit with two answers, or one value only.
    """

    accuracy: float | None
    agreement: float | None
    alpha: float | None
    annotators: tuple[Accuracy, ...]
    pairs: tuple[Agreement, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def human_bound(answers: Answers, intended: Mapping[str, Hashable]) -> HumanBound:
    """How right annotators are against the intended values, and how far they agree.

    Agreement is over the units that two annotators both answered, which a `plan` makes those of the common texts.
    Raises KeyError for a unit without an intended value.
    """
    rows = tuple(_accuracy(name, given, intended) for name, given in sorted(answers.items()))
    pairs = tuple(pairwise_agreement(answers))
    return HumanBound(
        accuracy=_mean([row.share for row in rows if row.share is not None]),
        agreement=_mean([pair.share for pair in pairs]),
        alpha=_alpha(answers),
        annotators=rows,
        pairs=pairs,
    )


def _accuracy(annotator: str, given: Mapping[str, Hashable], intended: Mapping[str, Hashable]) -> Accuracy:
    n, correct = len(given), sum(value == intended[unit] for unit, value in given.items())
    low, high = wilson(correct, n)
    return Accuracy(annotator, n, correct, correct / n if n else None, low, high)


def _mean(shares: Sequence[float]) -> float | None:
    return sum(shares) / len(shares) if shares else None


def pairwise_agreement(answers: Answers) -> list[Agreement]:
    """A row for each two annotators who answered a unit both, by their names."""
    rows = []
    for pair in combinations(sorted(answers), 2):
        one, other = (answers[name] for name in pair)
        both = one.keys() & other.keys()
        if both:
            same = sum(one[unit] == other[unit] for unit in both)
            rows.append(Agreement(pair, len(both), same, same / len(both)))
    return rows


def _alpha(answers: Answers) -> float | None:
    rows = ((unit, name, value) for name, given in answers.items() for unit, value in given.items())
    return krippendorff_alpha(Table.of(rows), seed=0).value
