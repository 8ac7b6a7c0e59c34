"""Figures of workers from what all of them said: agreement with the others, what chance alone would give, runs.

Chance is what the crowd's own use of the values gives, not one over their number: the same answers, given to other
items of the same unit, would have agreed with the others (or been right) in that share. So a worker who always says
what most items deserve is as good as chance.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hits.stats.blocking import binomial_p_below
from hits.stats.intervals import wilson_of_share

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
# Fewer compared answers say nothing of a worker, nor does a p-value above this one.
LEAST_COMPARED = 20
SIGNIFICANT = 0.01
# A run of equal answers that stands out is at least so long, and by chance as rare as this.
LEAST_RUN = 5
# An answer is hurried in less than such a part of the crowd's median time.
HURRIED = 3
# Nobody reads in less than such a share of the time that is expected.
LEAST_OF_EXPECTED = 0.2
RARE_RUN = 0.001


@dataclass(frozen=True)
class Said:
    """One worker's answer about one unit of an item; `value` is one spelling for each value.

    `counts`: the others are compared with it; one that counts for nothing is compared with the others all the same.
    `correct` is None where nothing is known.
    """

    worker: int
    item: int
    unit: str
    value: Hashable
    counts: bool = True
    correct: bool | None = None


@dataclass(frozen=True)
class Compared:
    """Of one worker. `compared` answers have another worker's beside them; `agreed` is the sum over these of the share
    of the others' answers that say the same, and `agreed_by_chance` what chance would give.

    `right_by_chance` of the answers with a known right one were right if they had been given to other items.
    """

    compared: int = 0
    agreed: float = 0.0
    agreed_by_chance: float = 0.0
    right_by_chance: float = 0.0


def compare(rows: Iterable[Said]) -> dict[int, Compared]:
    """Each worker with an answer here. A second answer of a worker to the same unit of an item is left out."""
    table = _Table.of(rows)
    if not table.workers:
        return {}
    compared, agreed, by_chance = _agreement(table)
    right = _right_by_chance(table)
    sums = {
        name: np.bincount(table.worker, weights=values, minlength=len(table.workers))
        for name, values in (("n", compared), ("agreed", agreed), ("chance", by_chance), ("right", right))
    }
    return {
        worker: Compared(int(sums["n"][at]), *(float(sums[name][at]) for name in ("agreed", "chance", "right")))
        for at, worker in enumerate(table.workers)
    }


@dataclass(frozen=True)
class _Table:
    """Columns of equal length; `question` numbers (item, unit), `said` numbers (question, value)."""

    workers: list[int]
    worker: Whole
    unit: Whole
    question: Whole
    unit_value: Whole
    said: Whole
    counts: NDArray[np.bool_]
    correct: Whole

    @classmethod
    def of(cls, rows: Iterable[Said]) -> _Table:
        codes: dict[str, dict[Hashable, int]] = {
            name: {} for name in ("worker", "unit", "question", "unit_value", "said")
        }
        seen: set[tuple[int, int]] = set()
        columns: list[list[int]] = [[] for _ in range(7)]
        for row in rows:
            worker = codes["worker"].setdefault(row.worker, len(codes["worker"]))
            question = codes["question"].setdefault((row.item, row.unit), len(codes["question"]))
            if (worker, question) in seen:
                continue
            seen.add((worker, question))
            numbers = (
                worker,
                codes["unit"].setdefault(row.unit, len(codes["unit"])),
                question,
                codes["unit_value"].setdefault((row.unit, row.value), len(codes["unit_value"])),
                codes["said"].setdefault((question, row.value), len(codes["said"])),
                int(row.counts),
                -1 if row.correct is None else int(row.correct),
            )
            for column, number in zip(columns, numbers, strict=True):
                column.append(number)
        worker_, unit, question_, unit_value, said, counts, correct = (np.array(one, dtype=np.int64) for one in columns)
        workers = [int(one) for one in codes["worker"]]  # type: ignore[call-overload]
        return cls(workers, worker_, unit, question_, unit_value, said, counts.astype(bool), correct)


def _count(codes: Whole, chosen: NDArray[np.bool_]) -> Whole:
    """How many of the chosen rows have the code of each row."""
    return np.bincount(codes[chosen], minlength=int(codes.max()) + 1)[codes]


def _share(part: Real | Whole, whole: Real | Whole) -> Real:
    """0 where there is no whole."""
    return np.divide(part, whole, out=np.zeros(len(whole), dtype=np.float64), where=whole > 0)


def _agreement(table: _Table) -> tuple[Whole, Real, Real]:
    own = table.counts.astype(np.int64)
    beside, same = _count(table.question, table.counts), _count(table.said, table.counts)
    others = beside - own
    compared = (others > 0).astype(np.int64)
    elsewhere = _of_others(table, table.unit) - others
    same_elsewhere = _of_others(table, table.unit_value) - (same - own)
    return compared, _share(same - own, others), compared * _share(same_elsewhere, elsewhere)


def _of_others(table: _Table, codes: Whole) -> Whole:
    """How many counting answers of other workers have the code of each row."""
    own = table.worker * (int(codes.max()) + 1) + codes
    _, own = np.unique(own, return_inverse=True)
    return _count(codes, table.counts) - _count(own, table.counts)


def _right_by_chance(table: _Table) -> Real:
    """Of each scored answer: for which share of the other items of its unit it would have been right."""
    right = table.correct == 1
    # Each right value of a question once, however many workers gave it.
    _, first = np.unique(np.where(right, table.said, -1 - table.said), return_index=True)
    is_known = np.zeros(len(right), dtype=bool)
    is_known[first] = True
    is_known &= right
    _, first = np.unique(np.where(right, table.question, -1 - table.question), return_index=True)
    is_known_question = np.zeros(len(right), dtype=bool)
    is_known_question[first] = True
    is_known_question &= right
    own_question = _count(table.question, is_known_question)
    questions = _count(table.unit, is_known_question) - own_question
    fits = _count(table.unit_value, is_known) - _count(table.said, is_known)
    found: Real = np.where(table.correct >= 0, np.minimum(1.0, _share(fits, questions)), 0.0)
    return found


def runs(answers: Sequence[Hashable]) -> tuple[int, int]:
    """Of a worker's answers in order: how many equal the one before, and the longest run of equal ones."""
    repeats, longest, length = 0, min(1, len(answers)), 1
    for before, after in zip(answers, answers[1:], strict=False):
        length = length + 1 if after == before else 1
        repeats, longest = repeats + (after == before), max(longest, length)
    return repeats, longest


# What stands out


@dataclass(frozen=True)
class Crowd:
    """Of a stage. Shares are None where nothing was compared; `repeats` is the share of answers equal to the one
    before. `least_seconds` is what the task asks for an answer, 0 for nothing; all items of its HIT together, as
    `expected_seconds`, None where nothing is expected.
    """

    median_seconds: float | None
    least_seconds: float
    repeats: float
    accuracy: float | None
    accuracy_by_chance: float
    agreement: float | None
    agreement_by_chance: float
    expected_seconds: float | None = None


@dataclass(frozen=True)
class Own:
    """Of one worker of that stage."""

    answers: int
    median_seconds: float | None
    longest_run: int
    scored: int
    correct: int
    right_by_chance: float
    figures: Compared


def is_hurried(seconds: float | None, crowd_median: float | None) -> bool:
    """Whether an answer took much less time than those of the crowd."""
    return seconds is not None and bool(crowd_median) and seconds < (crowd_median or 0) / HURRIED


def what_stands_out(own: Own, crowd: Crowd) -> list[str]:
    """Sentences that name what makes one look at the worker; none for most."""
    found = [_speed(own, crowd), _run(own, crowd), _accuracy(own, crowd)]
    figures = own.figures
    if figures.compared and crowd.agreement is not None:
        agreed, by_chance = figures.agreed, figures.agreed_by_chance
        found.append(_low("Others", "agreed with", agreed, figures.compared, by_chance, crowd.agreement))
    return [sentence for sentence in found if sentence]


def _speed(own: Own, crowd: Crowd) -> str:
    if own.median_seconds is None:
        return ""
    if own.median_seconds < crowd.least_seconds:
        return f"Half of the answers took less than the {crowd.least_seconds:g} s that the task asks for at least."
    if own.answers < LEAST_RUN:
        return ""
    # Where most hurry, the crowd's median tells nothing.
    if crowd.expected_seconds and own.median_seconds < LEAST_OF_EXPECTED * crowd.expected_seconds:
        expected = f"{crowd.expected_seconds:,.3g} s that an answer is expected to take"
        return f"Median of {own.median_seconds:.1f} s, less than a fifth of the {expected}."
    if crowd.median_seconds and own.median_seconds < crowd.median_seconds / HURRIED:
        return f"Median of {own.median_seconds:.1f} s, below a third of the crowd's {crowd.median_seconds:.1f} s."
    return ""


def _run(own: Own, crowd: Crowd) -> str:
    if own.longest_run < LEAST_RUN or own.answers * crowd.repeats ** (own.longest_run - 1) >= RARE_RUN:
        return ""
    return f"{own.longest_run:,} answers in a row are the same."


def _accuracy(own: Own, crowd: Crowd) -> str:
    if not own.scored or crowd.accuracy is None:
        return ""
    return _low("Gold answers", "right", own.correct, own.scored, own.right_by_chance, crowd.accuracy)


def _low(what: str, verb: str, right: float, n: int, by_chance: float, average: float) -> str:
    """At the level of chance where chance lies in the interval or above, else only much below the crowd."""
    if n < LEAST_COMPARED or binomial_p_below(int(np.ceil(right)), n, average) >= SIGNIFICANT:
        return ""
    beginning = f"{what}: {right / n:.0%} {verb}"
    if wilson_of_share(right / n, n)[0] <= by_chance / n:
        return f"{beginning}, which is no better than chance ({by_chance / n:.0%}); the crowd {average:.0%}."
    return f"{beginning}, much below the crowd's {average:.0%}."
