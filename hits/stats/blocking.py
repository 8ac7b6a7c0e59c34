"""Which workers answer significantly worse than the crowd.

A worker is named only if all three hold: enough scored answers, a share of right ones below the floor, and an exact
one-sided binomial test that rejects "as good as the crowd". The floor alone would name the unlucky, the test
alone would name good workers of a better crowd.

What is scored is one of MEASURES. By agreement an answer is right in the share of the others who say the same, by
competence with the probability that an aggregation method estimates; their sum is rounded up for the test, and as
shares vary less than right and wrong do, the p-value is rather too large.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from math import ceil
from typing import Any

from hits.stats.intervals import wilson_of_share

KNOWN_ANSWERS, AGREEMENT, COMPETENCE = "known_answers", "agreement", "competence"
SPEED, REPEATS = "speed", "repeats"


@dataclass(frozen=True)
class Measure:
    """How a measure reads. `title`: what answers are held against. `scored` are the answers that are scored, of which
    the good ones `are_good`; `columns` head the number of both and their share. `of` follows a share, empty for right
    answers.

    `in_shares`: an answer is good in a share between 0 and 1.
    """

    title: str
    scored: str
    are_good: str
    columns: tuple[str, str, str]
    of: str = ""
    in_shares: bool = False


MEASURES: Mapping[str, Measure] = {
    KNOWN_ANSWERS: Measure(
        "gold answers or references", "scored answers", "were right", ("Scored", "Right", "Accuracy")
    ),
    AGREEMENT: Measure(
        "the other workers' answers",
        "answers that others gave too",
        "agreed with the others",
        ("Compared", "Agreed", "Agreement"),
        "agreement with the others",
        in_shares=True,
    ),
    COMPETENCE: Measure(
        "competence, as the computation of agreement estimates it",
        "answers that others gave too",
        "are right as estimated",
        ("Compared", "Right, estimated", "Competence"),
        "competence",
        in_shares=True,
    ),
    SPEED: Measure(
        "the time that answers usually take",
        "answers with a time",
        "took at least a third of the median",
        ("With a time", "Not hurried", "Share"),
        "that took at least a third of the median",
    ),
    REPEATS: Measure(
        "the worker's answer before",
        "answers that follow another one",
        "differ from the one before",
        ("Following", "Different", "Share"),
        "that differ from the one before",
    ),
}


class PolicyError(ValueError):
    """A blocking policy holds a wrong value; `faults` names each of them."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("The blocking policy is wrong: " + "; ".join(self.faults))


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 1


def _is_share(value: object) -> bool:
    return type(value) in (int, float) and 0 < float(value) < 1  # type: ignore[arg-type]


@dataclass(frozen=True)
class Policy:
    """`check_every` counts scored answers between two checks; `floor` and `alpha` are shares in (0, 1).

    With `relative`, the floor is a share of the way from chance to the crowd's average: 0.5 lies half-way.
    """

    check_every: int = 1000
    min_answers: int = 20
    floor: float = 0.20
    alpha: float = 0.01
    measure: str = KNOWN_ANSWERS
    relative: bool = False

    def __post_init__(self) -> None:
        faults = [
            f"{name} must be a whole number of at least 1, not {getattr(self, name)!r}"
            for name in ("check_every", "min_answers")
            if not _is_count(getattr(self, name))
        ]
        faults += [
            f"{name} must be a number above 0 and below 1, not {getattr(self, name)!r}"
            for name in ("floor", "alpha")
            if not _is_share(getattr(self, name))
        ]
        if self.measure not in MEASURES:
            faults.append(f"measure must be one of {', '.join(MEASURES)}, not {self.measure!r}")
        if type(self.relative) is not bool:
            faults.append(f"relative must be true or false, not {self.relative!r}")
        if faults:
            raise PolicyError(faults)

    def floor_of(self, average: float, chance: float) -> float:
        """The share of right answers below which a worker is named; a crowd below chance gives the crowd's average."""
        return chance + self.floor * (average - chance) if self.relative else self.floor

    def to_dict(self) -> dict[str, Any]:
        """Only values that JSON holds; what a policy without it means is left out."""
        without = {"measure": KNOWN_ANSWERS, "relative": False}
        return {name: value for name, value in asdict(self).items() if without.get(name) != value}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Policy:
        """Absent keys take their defaults; an unknown key or a wrong value raises PolicyError."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(data) - known):
            raise PolicyError([f"unknown key {key!r}" for key in unknown])
        return cls(**data)


# What a page proposes where a stage has no policy yet: half-way from chance to the crowd's average tells a careless
# worker apart at any number of choices, and a hundred answers are soon there. Chance alone gives 0.25 of four choices,
# so that a fixed floor of 0.2 would name nobody.
SUGGESTED = Policy(check_every=100, min_answers=20, floor=0.5, alpha=0.01, relative=True)


@dataclass(frozen=True)
class Tally:
    """One worker's scored answers, those of a blocked one included; `correct` of them were good by the measure, and
    `by_chance` of them chance would have made good. Both are sums of shares where the measure is one of shares.
    """

    worker: str
    scored: int
    correct: float
    by_chance: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.correct <= self.scored:
            raise ValueError(f"worker {self.worker}: {self.correct} correct of {self.scored} scored cannot be")


@dataclass(frozen=True)
class Evidence:
    """Why a worker is to be blocked. `interval` is the 95 % Wilson interval of the accuracy.

    `floor` is the one that the accuracy is below. Where it was relative, `share` says where it lay between `chance` and
    the average; both are None in evidence for a fixed floor.
    """

    worker: str
    scored: int
    correct: float
    accuracy: float
    average: float
    p_value: float
    floor: float
    alpha: float
    interval: tuple[float, float]
    measure: str = KNOWN_ANSWERS
    chance: float | None = None
    share: float | None = None

    @property
    def counted(self) -> str:
        """What it counts: '2 of 40 scored answers were right'."""
        of = MEASURES[self.measure]
        good = f"{self.correct:,.2f}" if of.in_shares else f"{int(self.correct):,}"
        return f"{good} of {self.scored:,} {of.scored} {of.are_good}"

    def to_dict(self) -> dict[str, Any]:
        """Only values that JSON holds; `from_dict` gives the same evidence back."""
        return asdict(self) | {"interval": list(self.interval)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Evidence:
        """Raises ValueError when the keys are not those of `to_dict`. Older evidence lacks those with a default."""
        names = {field.name for field in fields(cls)}
        needed = {field.name for field in fields(cls) if field.default is MISSING}
        if not needed <= set(data) <= names:
            raise ValueError(f"evidence needs exactly the keys {sorted(names)}, not {sorted(data)}")
        low, high = data["interval"]
        return cls(**{**data, "interval": (low, high)})


def binomial_p_below(correct: int, n: int, average: float) -> float:
    """P[X <= correct] for X binomial(n, average): how likely so few right answers are for an average worker.

    The exact distribution, no normal approximation. Raises ValueError unless 0 <= correct <= n and average is
    a share.
    """
    if not 0 <= correct <= n:
        raise ValueError(f"correct must lie between 0 and n, but is {correct} of {n}")
    if not 0.0 <= average <= 1.0:
        raise ValueError(f"average must lie between 0 and 1, but is {average}")
    # Imported late: it takes half a second, and few programs judge workers.
    from scipy.special import bdtr

    return float(bdtr(correct, n, average))


def crowd_average(tallies: Iterable[Tally]) -> float:
    """Right answers of all workers over scored answers of all workers. Raises ValueError."""
    listed = list(tallies)
    scored = sum(tally.scored for tally in listed)
    if scored == 0:
        raise ValueError("No answer has been scored yet: there is no crowd average. Wait for scored answers.")
    return sum(tally.correct for tally in listed) / scored


def chance_level(tallies: Sequence[Tally]) -> float:
    """What chance would have made right of all workers' scored answers. Raises ValueError."""
    return crowd_average([Tally(tally.worker, tally.scored, tally.by_chance) for tally in tallies])


def _evidence(tally: Tally, average: float, chance: float, policy: Policy) -> Evidence:
    accuracy = tally.correct / tally.scored
    return Evidence(
        worker=tally.worker,
        scored=tally.scored,
        correct=tally.correct,
        accuracy=accuracy,
        average=average,
        p_value=binomial_p_below(ceil(tally.correct), tally.scored, average),
        floor=policy.floor_of(average, chance),
        alpha=policy.alpha,
        interval=wilson_of_share(accuracy, tally.scored),
        measure=policy.measure,
        chance=chance if policy.relative else None,
        share=policy.floor if policy.relative else None,
    )


def workers_to_block(tallies: Iterable[Tally], policy: Policy) -> list[Evidence]:
    """The workers to block with the evidence, lowest accuracy first; the order of the tallies does not matter.

    The average is that of all workers, the blocked one's own answers included. Raises ValueError when a worker
    has two tallies.
    """
    listed = list(tallies)
    workers = [tally.worker for tally in listed]
    if len(set(workers)) != len(workers):
        doubles = sorted({worker for worker in workers if workers.count(worker) > 1})
        raise ValueError(f"each worker needs one tally, but these have several: {doubles}")
    candidates = [tally for tally in listed if tally.scored >= policy.min_answers]
    if not candidates:
        return []
    average, chance = crowd_average(listed), chance_level(listed)
    found = [_evidence(tally, average, chance, policy) for tally in candidates]
    blocked = [e for e in found if e.accuracy < e.floor and e.p_value < policy.alpha]
    return sorted(blocked, key=lambda e: (e.accuracy, e.p_value, e.worker))
