"""How competent each worker of a stage is, as the newest run of the stage's statistics estimates it.

Dawid and Skene's model gives the probability of a right answer: the worker's confusion matrix weighted by the shares of
the values. MACE gives the probability that the worker knows the answer. Each run writes one figure a worker, in place
of the one before, so that the rows do not grow with the runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from hits.judging.rules.required_answers import chunks
from hits.models import ComputationRun, Stage, WorkerStat
from hits.stats.aggregation.results import Aggregated
from hits.stats.answers import Answers

# The first that is there is taken, after the one that a lead chose for the values.
METHODS = ("dawid_skene", "mace")
NEVER = (
    "The answers of this stage have not been aggregated yet: that is done automatically from 30 answers on, or started "
    "on the page Agreement."
)
OLDER = "The newest aggregation was computed before estimates of workers were kept. Compute it again."
NO_LABELS = "Dawid-Skene and MACE fit labels, and no unit of this stage has labels that they take."
ABSENT = "No answer of this worker counted when it was computed."


@dataclass(frozen=True)
class Estimates:
    """The run that a stage's figures are of, and the method by its title; `why` says why there are none."""

    run: int | None = None
    method: str = ""
    at: datetime | None = None
    why: str = NEVER

    def of(self, stat: WorkerStat) -> float | None:
        """0..1, None where the run has none of the worker."""
        return stat.competence if self.run is not None and stat.competence_run_id == self.run else None

    def missing(self, stat: WorkerStat) -> str:
        """Why there is none of this worker, as a sentence; empty where there is one."""
        if self.of(stat) is not None:
            return ""
        return self.why or ABSENT


class Collected:
    """The estimates of a run's units, as they come."""

    def __init__(self, wanted: str) -> None:
        self._order = [wanted, *METHODS] if wanted in METHODS else list(METHODS)
        self._units: list[tuple[Mapping[str, int], dict[str, tuple[str, Mapping[str, float]]]]] = []

    def add(self, answers: Answers, found: Mapping[str, tuple[str, Aggregated]]) -> None:
        """`found` has title and result by the method's name, without those that do not fit the unit."""
        known: dict[str, tuple[str, Mapping[str, float]]] = {
            name: (title, one.workers) for name, (title, one) in found.items() if name in METHODS and one.workers
        }
        counts = np.bincount(answers.worker, minlength=len(answers.workers)).tolist()
        if known:
            self._units.append((dict(zip(answers.workers, counts, strict=True)), known))

    def concluded(self) -> tuple[str, str, dict[str, float]]:
        """(name and title of the method, estimate by worker): the first in order that all units have; the mean of the
        units, weighted by the worker's answers to each. Empty where no unit has any.
        """
        for name in self._order:
            if self._units and all(name in known for _, known in self._units):
                return name, self._units[0][1][name][0], _means([(n, known[name][1]) for n, known in self._units])
        return "", "", {}


def _means(units: Sequence[tuple[Mapping[str, int], Mapping[str, float]]]) -> dict[str, float]:
    sums: dict[str, float] = defaultdict(float)
    answers: dict[str, int] = defaultdict(int)
    for counts, estimates in units:
        for worker, value in estimates.items():
            sums[worker] += value * counts[worker]
            answers[worker] += counts[worker]
    return {worker: min(1.0, sums[worker] / n) for worker, n in answers.items() if n}


def write(stage: Stage, run: ComputationRun, found: Mapping[str, float]) -> None:
    """Put the run's estimates, by worker id, in the place of those before. Within a transaction."""
    rows = list(stage.worker_stats.select_for_update(of=("self",)).select_related("worker").order_by("pk"))
    for row in rows:
        value = found.get(row.worker.worker_id)
        row.competence, row.competence_run = value, None if value is None else run
    for some in chunks(rows):
        WorkerStat.objects.bulk_update(some, ["competence", "competence_run"], batch_size=200)


def told(run: ComputationRun | None, report: Mapping[str, Any]) -> Estimates:
    """What the report of the newest finished run says of the estimates; None where no run is finished."""
    if run is None:
        return Estimates()
    kept = report.get("competence")
    if kept is None:
        return Estimates(run.pk, at=run.finished_at, why=OLDER)
    return Estimates(run.pk, kept["title"], run.finished_at, "" if kept["method"] else NO_LABELS)
