"""How strong things are that were compared two at a time: each beats another with strength / (sum of both strengths).

Source: R. A. Bradley and M. E. Terry (1952), Rank analysis of incomplete block designs. A tie is half a win of both.
Every thing also has half a win and half a loss against an imaginary one, so that one that always won, too, has a finite
strength, and things that were never compared with one another have a place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp
from typing import Literal

import numpy as np

from hits.stats.answers import Floats

Comparison = tuple[str, str, str, Literal["one", "other", "tie"]]
"""(worker, one thing, the other thing, which is better)."""
MOST_THINGS = 2000
MOST_ITERATIONS, TOLERANCE = 200, 1e-9
# Of a logarithm at a time, so that no step leaps over the top.
LONGEST_STEP = 1.0
DRAWN = 0.5


@dataclass(frozen=True)
class Strength:
    """`strength` is 1 for an average thing (geometric mean); `low` and `high` bound it with 95 %, as the likelihood's
    curvature does.

    `confidence` is the probability that this thing beats an average one.
    """

    thing: str
    strength: float
    low: float
    high: float
    confidence: float
    comparisons: int


@dataclass(frozen=True)
class Strengths:
    """The strongest first; `workers`: the share of one's comparisons that the strengths agree with, ties left out."""

    things: tuple[Strength, ...]
    workers: dict[str, float]
    iterations: int
    converged: bool


def bradley_terry(comparisons: Iterable[Comparison]) -> Strengths:
    """Raises ValueError for a thing compared with itself, and for more than MOST_THINGS things."""
    rows = list(comparisons)
    if not rows:
        return Strengths((), {}, 0, True)
    names = sorted({thing for _, one, other, _ in rows for thing in (one, other)})
    if len(names) > MOST_THINGS:
        raise ValueError(f"{len(names):,} things are compared, and at most {MOST_THINGS:,} can be.")
    wins = _wins(rows, {name: at for at, name in enumerate(names)})
    games = wins + wins.T
    logs, step, converged = _fitted(wins, games)
    errors = _errors(logs, games)
    strengths = np.exp(logs - logs.mean())
    things = [
        Strength(name, s, s * exp(-1.96 * e), s * exp(1.96 * e), s / (s + 1), int(n))
        for name, s, e, n in zip(names, strengths.tolist(), errors.tolist(), games.sum(axis=1), strict=True)
    ]
    ordered = sorted(things, key=lambda thing: (-thing.strength, thing.thing))
    return Strengths(
        tuple(ordered), _agreeing(rows, dict(zip(names, strengths.tolist(), strict=True))), step, converged
    )


def _wins(rows: list[Comparison], places: dict[str, int]) -> Floats:
    wins = np.zeros((len(places), len(places)))
    for _, one, other, better in rows:
        if one == other:
            raise ValueError(f"{one!r:.60} is compared with itself.")
        a, b = places[one], places[other]
        won = {"one": 1.0, "other": 0.0, "tie": 0.5}[better]
        wins[a, b] += won
        wins[b, a] += 1 - won
    return wins


def _fitted(wins: Floats, games: Floats) -> tuple[Floats, int, bool]:
    """Logarithms of the strengths by Newton's method; the likelihood has a single top."""
    logs, won = np.zeros(len(wins)), wins.sum(axis=1) + DRAWN
    for step in range(1, MOST_ITERATIONS + 1):
        expected = (games * _beats(logs)).sum(axis=1) + 2 * DRAWN * _expit(logs)
        moves = np.linalg.solve(_information(logs, games), won - expected)
        logs = logs + np.clip(moves, -LONGEST_STEP, LONGEST_STEP)
        if np.abs(moves).max(initial=0) < TOLERANCE:
            return logs, step, True
    return logs, MOST_ITERATIONS, False


def _beats(logs: Floats) -> Floats:
    return _expit(logs[:, np.newaxis] - logs)


def _expit(values: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-values))
    return found


def _information(logs: Floats, games: Floats) -> Floats:
    wins, average = _beats(logs), _expit(logs)
    information: Floats = -games * wins * (1 - wins)
    information[np.diag_indices(len(logs))] = -information.sum(axis=1) + 2 * DRAWN * average * (1 - average)
    return information


def _errors(logs: Floats, games: Floats) -> Floats:
    """Standard errors of the logarithms around their mean."""
    covariance = np.linalg.inv(_information(logs, games))
    centred = covariance - covariance.mean(axis=0)
    errors: Floats = np.sqrt(np.maximum(np.diag(centred - centred.mean(axis=1, keepdims=True)), 0))
    return errors


def _agreeing(rows: list[Comparison], strengths: dict[str, float]) -> dict[str, float]:
    heard: dict[str, list[bool]] = {}
    for worker, one, other, better in rows:
        if better != "tie":
            heard.setdefault(worker, []).append((strengths[one] > strengths[other]) == (better == "one"))
    return {worker: sum(right) / len(right) for worker, right in sorted(heard.items())}
