"""How far the workers of a stage agree, and one value of each item from their answers: a computation of every stage.

It is there for each stage with a crowd whose protocol says how its answers can be compared, whatever the recipe. Its
log ends with {"report": ...}, which `newest` reads; an item's result is {"units": {unit with its group: {"value",
"confidence", "entropy", "answers"}}}: the value by the method that was chosen, how sure it is (0..1, null where the
method does not say, as for means), the entropy of the answers in bits, and how many they are. Values of scales have
"low" and "high" too, where two answers or more are there.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from django.db.models import Count, Max, QuerySet
from django.utils import timezone

from hits.answers.rules.answer_words import Words
from hits.formats.outputs.results import INPUT
from hits.items.rules import item_columns
from hits.judging.rules.crowd_answers import RANKING, UnitAnswers, full_unit, is_compared, read
from hits.judging.rules.required_answers import chunks
from hits.models import ComputationRun, Item, Label, Project, Stage, StageSummary, Upload
from hits.publishing.rules.hit_items import lock_items
from hits.recipes.source import Computation, Found, Option, Progress
from hits.stats.aggregation.methods import (
    BY_LEVEL,
    METHODS,
    Given,
    accuracy,
    confidences,
    method_of,
    right_by_worker,
    shown_value,
)
from hits.stats.aggregation.recommending import compare
from hits.stats.aggregation.results import Aggregated, NotFeasibleError
from hits.stats.agreement.confusion import entropies
from hits.stats.agreement.report import report
from hits.stats.answers import Answers, AnswersError
from hits.workers.rules import competences

SUFFIX = "-agreement"
# Answers, and their share of those it was computed over, that have to come before it is computed again by itself.
FEWEST_NEW, NEW_SHARE = 30, 0.1
# Between two runs that items wait for, at least.
REST = timedelta(seconds=30)
# Units with figures; a questionnaire with more has values for all, but no figures for the rest.
MOST_UNITS = 60
LONGEST_KEY = 60
# Runs that are drawn over time, of how many they are chosen, and the figures of each.
MOST_POINTS, MOST_RUNS = 20, 1000
DRAWN = ("alpha", "pairwise")
CHUNK = 2000
VALUE_COLUMNS = ("item", "unit", "value", "value_text", "confidence", "entropy", "answers", "low", "high")


def key_of(stage: Stage) -> str:
    return key_for(stage.key)


def key_for(stage_key: str) -> str:
    """A key that is too long for that is cut, with a sum of the whole one, so that two that begin alike stay apart."""
    if len(stage_key) + len(SUFFIX) <= LONGEST_KEY:
        return f"{stage_key}{SUFFIX}"
    digest = hashlib.sha256(stage_key.encode()).hexdigest()[:8]
    return f"{stage_key[: LONGEST_KEY - len(SUFFIX) - 9]}-{digest}{SUFFIX}"


def computations_of(project: Project) -> list[Computation]:
    """One for each stage with answers that can be compared, in their order."""
    stages = project.stages.filter(crowd=True).order_by("position")
    return [_computation(stage) for stage in stages if is_compared(stage)]


def _computation(stage: Stage) -> Computation:
    return Computation(
        key=key_of(stage),
        title=f"Agreement of {stage.title}",
        description="How far workers agree, and one value of each item from their answers.",
        stage=stage.key,
        params={"method": "majority"},
        run=partial(_run, stage.pk),
        options={
            "method": Option(
                label="Values by",
                help="The method whose value and confidence each item gets. Where it does not fit the answers, "
                "as Dawid-Skene does not fit a scale, the usual one is taken. All methods are compared in any case.",
                choices={name: title for name, (title, _) in METHODS.items() if name in BY_LEVEL["nominal"]},
            )
        },
    )


def computation_of(stage: Stage) -> Computation | None:
    """None where the stage's answers cannot be compared."""
    return _computation(stage) if is_compared(stage) else None


def going_on(stage: Stage) -> ComputationRun | None:
    """The run that waits or goes on."""
    states = (ComputationRun.State.QUEUED, ComputationRun.State.RUNNING)
    return ComputationRun.objects.filter(project=stage.project_id, key=key_of(stage), state__in=states).first()


def newest(stage: Stage) -> ComputationRun | None:
    """The newest finished run of the stage's statistics; `report_of` reads what it found."""
    return _finished(stage).first()


def newest_pks(stages: Sequence[Stage]) -> list[int]:
    """The same runs of several stages, in one query, without what they found, which may be large."""
    projects = {stage.project_id for stage in stages}
    done = ComputationRun.objects.filter(project__in=projects, state=ComputationRun.State.DONE)
    rows = done.values_list("project_id", "key").annotate(newest=Max("pk")).order_by()
    newest = {(project, key): pk for project, key, pk in rows}
    return [newest[found] for stage in stages if (found := (stage.project_id, key_of(stage))) in newest]


def _finished(stage: Stage) -> QuerySet[ComputationRun]:
    done = ComputationRun.objects.filter(project=stage.project_id, key=key_of(stage), state=ComputationRun.State.DONE)
    return done.order_by("-id")


def report_of(run: ComputationRun) -> dict[str, Any]:
    """{"harvested", "units": [...]}; empty where the run has none."""
    found: dict[str, Any] = next((entry["report"] for entry in reversed(run.log) if "report" in entry), {})
    return found


def estimates_of(stage: Stage) -> competences.Estimates:
    """Of the stage's workers, by the newest finished run. One query."""
    run = _finished(stage).defer("checkpoint").first()
    return competences.told(run, report_of(run) if run else {})


@dataclass(frozen=True)
class Computed:
    """When the newest figures and values of a stage were computed and by which method, and what has changed since:
    answers that came, and imported ones that were removed. `key` is the computation's."""

    key: str
    method: str
    at: datetime
    answers: int
    since: int
    removed: int

    @property
    def in_words(self) -> str:
        """What changed since."""
        changes = ((self.since, "came"), (self.removed, "removed"))
        said = [f"{count:,} answer{'' if count == 1 else 's'} {what} since" for count, what in changes if count]
        return ", ".join(said) or "no answer came since"

    @property
    def is_old(self) -> bool:
        return bool(self.since or self.removed)


def computed(stage: Stage) -> Computed | None:
    """Of the newest finished run; None where none has finished. One query, which reads no report."""
    run = _finished(stage).only("finished_at", "created_at", "summary", "params").first()
    if run is None:
        return None
    now = stage.summary.answers
    # Runs of earlier versions have no summary.
    harvested = now if run.summary is None else int(run.summary["harvested"])
    newest = (run.summary or {}).get("newest")
    left = _left(stage, run, harvested, newest)
    method = str(run.params.get("method", "majority"))
    at = run.finished_at or run.created_at
    return Computed(key_of(stage), method, at, harvested, max(0, now - left), harvested - left)


def _left(stage: Stage, run: ComputationRun, harvested: int, newest: int | None) -> int:
    """How many of the answers that a run read are still there: `harvested` ones, the last with the id `newest`.

    Only imported answers can be removed; a file that came in its place may have as many.
    """
    removed = stage.result_files.filter(state=Upload.State.REMOVED, finished_at__gte=run.created_at)
    if newest is None or not removed.exists():
        return min(harvested, StageSummary.objects.values_list("answers", flat=True).get(stage=stage))
    return min(harvested, stage.assignments.filter(pk__lte=newest).count())


def figures_over_time(stage: Stage) -> list[tuple[datetime, dict[str, Any]]]:
    """(when it was finished, its summary) of finished runs, oldest first: of many runs MOST_POINTS of equal distance,
    the newest among them. Two queries, and no report is read: of 60 units that takes a second for 20 runs.
    """
    done = _finished(stage).filter(finished_at__isnull=False)
    pks = list(done.values_list("pk", flat=True)[:MOST_RUNS])
    step = max(1, -(-len(pks) // MOST_POINTS))
    chosen = done.filter(pk__in=pks[::step], summary__isnull=False).order_by("id")
    return [(at, summary) for at, summary in chosen.values_list("finished_at", "summary") if at and summary]


def summary_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """Of a report what is drawn over time: {"harvested", "newest", "units": [{"unit", "figures"}]}."""
    return {
        "harvested": report["harvested"],
        "newest": report.get("newest"),
        "units": [
            {
                "unit": unit["unit"],
                "figures": {
                    name: {part: unit["figures"][name][part] for part in ("value", "low", "high")}
                    for name in DRAWN
                    if name in unit["figures"]
                },
            }
            for unit in report["units"]
            if unit.get("figures")
        ],
    }


def is_due(stage: Stage) -> bool:
    """Whether enough answers came since the newest run: `FEWEST_NEW` and a tenth more than it was computed over; or
    some were removed; or items wait for its values and the newest one ended some time ago.

    While one waits or goes on, and after one that failed or was stopped on as many answers, it is not due.
    """
    runs = ComputationRun.objects.filter(project=stage.project_id, key=key_of(stage)).order_by("-id")
    # What the stage read before its answers were counted is old.
    harvested = StageSummary.objects.values_list("answers", flat=True).get(stage=stage)
    waited_for = stage.items.filter(waits_for_values=True).exists()
    last = runs.defer("checkpoint").first()
    # One that was stopped before it began is left to whoever stopped it.
    before = harvested_before(last) if last else None
    left = _left(stage, last, before, _newest_before(last)) if last and before is not None else 0
    few = harvested < FEWEST_NEW and not waited_for and (before is None or left == before)
    if few or not is_compared(stage):
        return False
    if last is None:
        return True
    if last.state in (ComputationRun.State.QUEUED, ComputationRun.State.RUNNING) or before is None:
        return False
    if waited_for and last.state == ComputationRun.State.DONE and _rested(last):
        return True
    return left < before or harvested - left >= max(FEWEST_NEW, NEW_SHARE * before)


def _rested(run: ComputationRun) -> bool:
    """Whether it ended so long ago that, where items wait all the time, a tenth of the time is spent on computing."""
    if run.started_at is None or run.finished_at is None:
        return True
    return timezone.now() - run.finished_at >= max(REST, 9 * (run.finished_at - run.started_at))


def harvested_before(run: ComputationRun) -> int | None:
    """The answers that the stage had when the run began; None where it has not begun."""
    return next((int(entry["answers"]) for entry in run.log if "answers" in entry), None)


def _newest_before(run: ComputationRun) -> int | None:
    """The id of the newest answer that the run read; None where it has not begun, or is of an earlier version."""
    return next((entry["newest"] for entry in run.log if "newest" in entry), None)


def _labels_now(stage: Stage) -> list[int]:
    """[how many labels count, the newest of them]: other ones are there where either is another."""
    found = Label.objects.counting().filter(stage=stage).aggregate(n=Count("id"), newest=Max("id"))
    return [found["n"], found["newest"] or 0]


def is_older(run: ComputationRun, stage: Stage) -> bool:
    """Whether answers came, or began or stopped to count, since the run read them."""
    before = next((entry["labels"] for entry in run.log if "labels" in entry), None)
    if before is None:
        # A run of an earlier version noted the answers alone.
        return harvested_before(run) != stage.summary.answers
    return bool(before != _labels_now(stage))


def methods_by_unit(run: ComputationRun) -> dict[str, str]:
    """Which method gave the values of each unit, by the name that it has without a group."""
    report = report_of(run)
    wanted = report.get("method", run.params.get("method", ""))
    return {
        unit["unit"]: unit.get("values_by") or method_of(unit["level"], wanted)
        for unit in report.get("units", [])
        if not unit["why"]
    }


def _run(
    stage_pk: int, collected: object, params: Mapping[str, Any], seed: int, checkpoint: Any
) -> Iterator[Progress | Found]:
    """A crash lets it begin anew: it takes seconds."""
    stage = Stage.objects.select_related("summary").get(pk=stage_pk)
    harvested = stage.summary.answers
    newest = stage.assignments.aggregate(newest=Max("id"))["newest"] or 0
    yield Progress(0, 0, entry={"answers": harvested, "newest": newest, "labels": _labels_now(stage)}, anew=True)
    units = read(stage)
    right = _right_on_all(units)
    reports, values, estimates = [], [], competences.Collected(params["method"])
    for number, unit in enumerate(units):
        told, chosen = _unit(unit, params["method"], seed, estimates, right, figures=number < MOST_UNITS)
        reports.append(told)
        values.append(chosen)
        # What was read is not needed any more.
        unit.rows.clear()
        yield Progress(number + 1, len(units))
    yield from _found(values)
    method, title, of_workers = estimates.concluded()
    found = {"harvested": harvested, "newest": newest, "method": params["method"], "units": reports}
    found["competence"] = {"method": method, "title": title}
    yield Progress(len(units), len(units), entry={"report": found}, summary=summary_of(found), workers=of_workers)


def conclude(stage: Stage, run: ComputationRun, workers: Mapping[str, float]) -> None:
    """What follows from a finished run: estimates of the workers, and items that waited for values are looked at again.

    Within the transaction that finishes the run, so that one that is stopped leaves everything as it was.
    """
    # Items before the workers' figures, as scoring locks them. One that begins to wait now waits for the next run.
    lock_items(waiting := list(stage.items.filter(waits_for_values=True).values_list("pk", flat=True)))
    for some in chunks(waiting):
        stage.items.filter(pk__in=some, waits_for_values=True).update(stale=True)
    competences.write(stage, run, workers)


def _right_on_all(units: Sequence[UnitAnswers]) -> dict[str, tuple[int, int]]:
    """(right, of how many) known answers to any unit, by worker."""
    found: dict[str, tuple[int, int]] = {}
    for unit in units:
        for worker, (right, of) in right_by_worker(unit.rows, unit.known).items():
            before = found.get(worker, (0, 0))
            found[worker] = before[0] + right, before[1] + of
    return found


def _unit(
    unit: UnitAnswers,
    wanted: str,
    seed: int,
    estimates: competences.Collected,
    right: Mapping[str, tuple[int, int]],
    *,
    figures: bool,
) -> tuple[dict[str, Any], tuple[str, Answers, Aggregated] | None]:
    """(what is told of the unit, its values); without values where the answers cannot be compared.

    `right` has the workers' known answers to all units: a field without any, beside one that checks attention, is
    weighted by these.
    """
    told: dict[str, Any] = {"unit": unit.unit, "level": unit.level, "why": "", "methods": []}
    try:
        answers = Answers.of(unit.rows)
        if figures and unit.level != RANKING:
            told |= report(answers, unit.level, order=unit.order, seed=seed)
        right = right_by_worker(unit.rows, unit.known) or right
        given = Given(answers, right, unit.known, unit.order, seed)
        fitting = {}
        for name in BY_LEVEL[unit.level]:
            row, found = _method(name, given, unit)
            told["methods"].append(row)
            if found is not None:
                fitting[name] = (METHODS[name][0], found)
        told["recommended"] = compare(answers, unit.level, told["methods"], {n: one for n, (_, one) in fitting.items()})
        estimates.add(answers, fitting)
    except AnswersError as error:
        return {**told, "why": str(error)}, None
    told |= {"worst": [_place(item, apart) for item, apart in told.get("worst", [])]}
    wanted = method_of(unit.level, wanted)
    told["values_by"] = wanted if wanted in fitting else BY_LEVEL[unit.level][0]
    chosen = fitting[wanted][1] if wanted in fitting else METHODS[told["values_by"]][1](given)
    return _as_json(told), (unit.unit, answers, chosen)


def _place(item: str, apart: float) -> dict[str, Any]:
    number, _, group = item.partition(" ")
    return {"item": int(number), "group": group, "disagreement": apart}


def _method(name: str, given: Given, unit: UnitAnswers) -> tuple[dict[str, Any], Aggregated | None]:
    title, method = METHODS[name]
    began = time.perf_counter()
    try:
        found = method(given)
    except NotFeasibleError as error:
        return {"method": name, "title": title, "why": str(error)}, None
    right = accuracy(given.answers, found, unit.known)
    return {
        "method": name,
        "title": title,
        "why": "",
        "accuracy": vars(right) if right else None,
        "tied": found.tied,
        "iterations": found.iterations,
        "converged": found.converged,
        "seconds": round(time.perf_counter() - began, 3),
    }, found


def _as_json(told: Any) -> Any:
    """Sets, spans and rankings as lists, so that JSON holds them."""
    if isinstance(told, dict):
        return {name: _as_json(value) for name, value in told.items()}
    if isinstance(told, list | tuple):
        return [_as_json(value) for value in told]
    return shown_value(told)


def _found(values: list[tuple[str, Answers, Aggregated] | None]) -> Iterator[Found]:
    """A result an item, with all of its units."""
    places: dict[int, list[tuple[int, str, int]]] = {}
    units = [value for value in values if value]
    for number, (_, answers, _) in enumerate(units):
        for at, item in enumerate(answers.items):
            own, _, group = item.partition(" ")
            places.setdefault(int(own), []).append((number, group, at))
    told = [_told(answers, found) for _, answers, found in units]
    pks = list(places)
    for start in range(0, len(pks), CHUNK):
        keys = dict(Item.objects.filter(pk__in=pks[start : start + CHUNK]).values_list("pk", "key"))
        for pk, key in keys.items():
            yield Found(
                key,
                {"units": {full_unit(units[n][0], group): told[n][at] for n, group, at in places[pk]}},
            )


def _told(answers: Answers, found: Aggregated) -> list[dict[str, Any]]:
    """By item: value, confidence, entropy, answers, and the interval of a scale."""
    rows = zip(found.values, confidences(found), entropies(answers).tolist(), answers.per_item().tolist(), strict=True)
    told = [
        {"value": shown_value(value), "confidence": sure, "entropy": round(entropy, 6), "answers": n}
        for value, sure, entropy, n in rows
    ]
    if found.intervals is not None:
        for one, (low, high) in zip(told, found.intervals.tolist(), strict=True):
            if not np.isnan(low):
                one |= {"low": low, "high": high}
    return told


def least_confidence(result: Mapping[str, Any]) -> float | None:
    """Of an item's result: how sure the value is that is least sure, 0..1; None where no method says."""
    known = [one["confidence"] for one in result["units"].values() if one["confidence"] is not None]
    return min(known, default=None)


def value_table(stage: Stage, run: ComputationRun | None) -> tuple[list[str], Iterator[list[Any]]]:
    """(columns, rows): a unit of an item each, with what the item brings as `Input.*`. No rows where none has run."""
    inputs = item_columns.names_of(stage)
    rows = _value_rows(stage, run, inputs) if run else iter(())
    return [*VALUE_COLUMNS, *(f"{INPUT}{name}" for name in inputs)], rows


def _value_rows(stage: Stage, run: ComputationRun, inputs: Sequence[str]) -> Iterator[list[Any]]:
    results = run.concluded.order_by("pk").values_list("item", "data").iterator(chunk_size=CHUNK)
    words = Words.of(stage)
    while part := list(islice(results, CHUNK)):
        asked = item_columns.of_items({item for item, _ in part})
        items = Item.objects.select_related("document").in_bulk({item for item, _ in part})
        for pk, data in part:
            item = items[pk]
            cells = item_columns.spelled([asked[pk].get(name) for name in inputs])
            for unit, found in data["units"].items():
                told = (found.get(name) for name in VALUE_COLUMNS[4:])
                # In a tie there is no value.
                text = None if found["value"] is None else words.line(item, unit, found["value"], longest=None).said
                yield [item.key, unit, _spelled(found["value"]), text, *told, *cells]


def _spelled(value: Any) -> Any:
    """Lists as JSON, for a cell."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def for_release(stage: Stage) -> list[dict[str, Any]]:
    """The figures of each unit by the newest run, without names of workers and items; empty where none has run."""
    run = newest(stage)
    units = report_of(run)["units"] if run else []
    kept = ("unit", "level", "items", "paired", "answers", "workers", "figures")
    return [{name: unit[name] for name in kept if name in unit} for unit in units if not unit["why"]]
