"""Which workers answer significantly worse than the crowd.

A worker is named only if all three hold: enough scored answers, an accuracy below the floor, and an exact
one-sided binomial test that rejects "as good as the crowd". The floor alone would name the unlucky, the test
alone would name good workers of a better crowd.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from hits.quality.intervals import wilson


class PolicyError(ValueError):
    """A blocking policy holds a wrong value; `faults` names each of them."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("The blocking policy is wrong: " + "; ".join(self.faults))


class NothingScoredError(ValueError):
    """No answer has been compared with a reference yet, so there is no average."""

    def __init__(self) -> None:
        super().__init__("No answer has been scored yet: there is no crowd average. Wait for scored answers.")


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 1


def _is_share(value: object) -> bool:
    return type(value) in (int, float) and 0 < float(value) < 1  # type: ignore[arg-type]


@dataclass(frozen=True)
class Policy:
    """`check_every` counts submissions between two checks; `floor` and `alpha` are shares in (0, 1)."""

    check_every: int = 1000
    min_answers: int = 20
    floor: float = 0.20
    alpha: float = 0.01

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
        if faults:
            raise PolicyError(faults)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Policy:
        """Absent keys take their defaults; an unknown key or a wrong value raises PolicyError."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(data) - known):
            raise PolicyError([f"unknown key {key!r}" for key in unknown])
        return cls(**data)


@dataclass(frozen=True)
class Tally:
    """One worker's answers that were compared with a reference, void ones left out."""

    worker: str
    scored: int
    correct: int

    def __post_init__(self) -> None:
        if not 0 <= self.correct <= self.scored:
            raise ValueError(f"worker {self.worker}: {self.correct} correct of {self.scored} scored cannot be")


@dataclass(frozen=True)
class Evidence:
    """Why a worker is to be blocked. `interval` is the 95 % Wilson interval of the accuracy."""

    worker: str
    scored: int
    correct: int
    accuracy: float
    average: float
    p_value: float
    floor: float
    alpha: float
    interval: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """Only values that JSON holds; `from_dict` gives the same evidence back."""
        return asdict(self) | {"interval": list(self.interval)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Evidence:
        """Raises ValueError when the keys are not exactly those of `to_dict`."""
        names = {field.name for field in fields(cls)}
        if set(data) != names:
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
    """Right answers of all workers over scored answers of all workers. Raises NothingScoredError."""
    listed = list(tallies)
    scored = sum(tally.scored for tally in listed)
    if scored == 0:
        raise NothingScoredError
    return sum(tally.correct for tally in listed) / scored


def _evidence(tally: Tally, average: float, policy: Policy) -> Evidence:
    return Evidence(
        worker=tally.worker,
        scored=tally.scored,
        correct=tally.correct,
        accuracy=tally.correct / tally.scored,
        average=average,
        p_value=binomial_p_below(tally.correct, tally.scored, average),
        floor=policy.floor,
        alpha=policy.alpha,
        interval=wilson(tally.correct, tally.scored),
    )


def _refuse_doubles(tallies: Sequence[Tally]) -> None:
    workers = [tally.worker for tally in tallies]
    if len(set(workers)) != len(workers):
        doubles = sorted({worker for worker in workers if workers.count(worker) > 1})
        raise ValueError(f"each worker needs one tally, but these have several: {doubles}")


def workers_to_block(tallies: Iterable[Tally], policy: Policy) -> list[Evidence]:
    """The workers to block with the evidence, lowest accuracy first; the order of the tallies does not matter.

    The average is that of all workers, the blocked one's own answers included. Raises ValueError when a worker
    has two tallies.
    """
    listed = list(tallies)
    _refuse_doubles(listed)
    candidates = [tally for tally in listed if tally.scored >= policy.min_answers]
    if not candidates:
        return []
    average = crowd_average(listed)
    found = [_evidence(tally, average, policy) for tally in candidates]
    blocked = [e for e in found if e.accuracy < policy.floor and e.p_value < policy.alpha]
    return sorted(blocked, key=lambda e: (e.accuracy, e.p_value, e.worker))
