"""Computing: a step over a whole stage that takes no crowd. It shows where it is, can be stopped, and goes on.

Its model may run elsewhere: files for it are written here, and the file that it made is read as a run of its own.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Exists, F, Max, OuterRef, QuerySet
from django.utils import timezone

from hits.core.action_log import record
from hits.core.jobs.failures import PASSING
from hits.core.jobs.leases import Held, LeaseLostError, StoppedError, lease
from hits.formats.files import zipped
from hits.formats.files.faults import FormatErrors
from hits.judging.rules import stage_statistics
from hits.judging.rules.recipe_rows import Rows
from hits.models import Blob, ComputationResult, ComputationRun, Item, Project, Stage
from hits.projects.rules.plugins import usable_recipe
from hits.recipes.source import Computation, Found, Option, Outside, Progress
from hits.refusals import Refusal, Refused
from hits.text.paths import without_folders

# Renewed at each sign of progress; long enough for the longest silence of a computation.
LEASE_SECONDS = 300
# Results that wait in memory for being written.
CHUNK = 500
# Of the faults of a file, so many are told.
FAULTS_TOLD = 100
# In place of a model's name, where a file holds what a model elsewhere concluded.
IMPORTED = "imported"
LONGEST_NAME = 200
MOST_ATTEMPTS = 3
# The page puts the full stop.
TRIED = (
    f"It began {MOST_ATTEMPTS} times and came no further. Its process may have needed too much memory: try fewer items "
    "or another model; if that fails too, tell the operator, whose log says more"
)
LONGEST_ERROR = 20_000
MOST_COUNTED = 1000
_GOING_ON = (ComputationRun.State.QUEUED, ComputationRun.State.RUNNING)
_BROKEN_OFF = (ComputationRun.State.STOPPED, ComputationRun.State.FAILED)


def computations(project: Project) -> list[Computation]:
    """What the project's recipe computes, and the statistics of each stage whose answers can be compared."""
    return [*of_recipe(project), *stage_statistics.computations_of(project)]


def of_recipe(project: Project) -> list[Computation]:
    """What the project's recipe computes, in its order; nothing where it cannot be used.

    A project that began with an older recipe may lack a stage: then there is nothing to compute about it.
    """
    recipe = usable_recipe(project)
    offered: Sequence[Computation] = getattr(recipe.steps, "COMPUTATIONS", ()) if recipe else ()
    stages = set(project.stages.values_list("key", flat=True)) if offered else set()
    return [_with_models(each) for each in offered if each.stage in stages]


def _with_models(of: Computation) -> Computation:
    """The models of the installation are among the choices."""
    named = {
        name: replace(of.options.get(name, Option()), choices=kind.labels(settings.PLUGIN_DIRS))
        for name, kind in of.models.items()
    }
    return replace(of, options={**of.options, **named})


def start(project: Project, key: str, params: Mapping[str, Any], user: User | None) -> ComputationRun:
    """A run to be taken up by a worker. Raises Refused (computation_refused)."""
    return _create(project, key, _params(_computation(project, key), params), user)


def start_when_due(stage: Stage) -> ComputationRun | None:
    """A run of the stage's statistics where enough answers came since the newest one."""
    return _start_as_before(stage) if stage_statistics.is_due(stage) else None


def start_when_older(stage: Stage) -> ComputationRun | None:
    """A run of the stage's statistics where an answer came or went since the newest one, however few."""
    newest = stage_statistics.newest(stage)
    is_older = newest is None or stage_statistics.is_older(newest, stage)
    return _start_as_before(stage) if is_older and stage_statistics.is_compared(stage) else None


def start_again_when_older(stage: Stage) -> ComputationRun | None:
    """As `start_when_older`, of a stage whose statistics were computed before."""
    return start_when_older(stage) if stage_statistics.newest(stage) else None


def _start_as_before(stage: Stage) -> ComputationRun | None:
    try:
        # With its parameters, which a lead may have chosen.
        newest = stage_statistics.newest(stage)
        return start(stage.project, stage_statistics.key_of(stage), dict(newest.params) if newest else {}, None)
    except Refused:
        # Somebody started one meanwhile.
        return None


def awaited() -> list[int]:
    """Stages with items that wait for values to be computed."""
    return sorted(set(Item.objects.filter(waits_for_values=True).order_by().values_list("stage", flat=True)))


def waiting_for(run_pk: int) -> list[int]:
    """Stages with items that waited for the values of this run and are to be decided now."""
    found = ComputationRun.objects.select_related("project").get(pk=run_pk)
    keys = {stage_statistics.key_of(stage): stage.pk for stage in found.project.stages.all()}
    waiting = Item.objects.filter(stage=keys.get(found.key), stale=True, waits_for_values=True)
    return [keys[found.key]] if found.key in keys and waiting.exists() else []


def awaited_by(stage: Stage) -> str:
    """How many items wait for values that are computed by itself, as a sentence; empty where none does."""
    return "" if _broken_off(stage) or not (waiting := _waiting(stage)) else f"{waiting} It begins by itself."


def held_up(stage: Stage) -> list[str]:
    """Why such items wait for a lead, as sentences."""
    broken = _broken_off(stage)
    if not broken or not (waiting := _waiting(stage)):
        return []
    ended = "failed" if broken == ComputationRun.State.FAILED else "was stopped"
    return [f"{waiting} It {ended}: start it again on the page Agreement."]


def _waiting(stage: Stage) -> str:
    # Bounded, whatever their number.
    waiting = len(stage.items.filter(waits_for_values=True).values_list("pk")[:MOST_COUNTED])
    least = "At least " if waiting == MOST_COUNTED else ""
    items = f"{least}{waiting:,} item{'s wait' if waiting > 1 else ' waits'}"
    return f"{items} for values of the computation of agreement." if waiting else ""


def _broken_off(stage: Stage) -> str:
    """How the newest run of the stage's statistics broke off; empty where it did not."""
    runs = ComputationRun.objects.filter(project=stage.project_id, key=stage_statistics.key_of(stage))
    state = runs.order_by("-pk").values_list("state", flat=True).first()
    return state if state in _BROKEN_OFF else ""


def _create(
    project: Project, key: str, params: dict[str, Any], user: User | None, file: Blob | None = None
) -> ComputationRun:
    try:
        with transaction.atomic():
            return ComputationRun.objects.create(
                project=project, key=key, params=params, seed=project.seed, created_by=user, file=file
            )
    except IntegrityError as error:
        raise Refused("computation_refused", "It is running already. Wait for its end, or stop it first.") from error


def files(project: Project, key: str, params: Mapping[str, Any]) -> Iterator[bytes]:
    """A zip of what a model elsewhere learns from and is asked, in pieces. Raises Refused at once."""
    of, outside = _outside(project, key)
    pieces = zipped.stream(outside.write(Rows(project), _params(of, params), project.seed))
    try:
        first = next(pieces)
    except (ValueError, Refusal) as error:
        # As a model says that there is too little for it.
        raise Refused("computation_refused", f"There are no files yet: {error}.") from error
    return chain([first], pieces)


def bring_in(
    project: Project, key: str, params: Mapping[str, Any], name: str, stream: BinaryIO, size: int, user: User | None
) -> ComputationRun:
    """A run that reads what a model elsewhere made of the files. Raises Refused (computation_refused)."""
    of, outside = _outside(project, key)
    wanted = _params(of, params)
    check_size(size)
    with transaction.atomic():
        blob = Blob.store_stream(stream)
        of_file = {outside.parameter: IMPORTED, "file": name[-LONGEST_NAME:], "sha256": blob.sha256}
        return _create(project, key, {**wanted, **of_file}, user, blob)


def check_size(size: int) -> None:
    """Raises Refused (computation_refused) for a file that is empty or too large."""
    limit = settings.MAX_IMPORT_BYTES
    if not 0 < size <= limit:
        raise Refused(
            "computation_refused",
            f"The file has {size / 1e6:,.1f} MB; it must hold something and at most {limit / 1e6:,.1f} MB are taken.",
        )


def _outside(project: Project, key: str) -> tuple[Computation, Outside]:
    of = _computation(project, key)
    if of.outside is None:
        raise Refused("computation_refused", f"No model elsewhere takes part in {of.title!r}: it has no files.")
    return of, of.outside


def stop(run: ComputationRun, user: User | None) -> bool:
    """The run ends at its next sign of progress; results of the one before it stand. False: it had ended before."""
    going_on = ComputationRun.objects.filter(pk=run.pk, state__in=_GOING_ON)
    with transaction.atomic():
        if not going_on.update(state=ComputationRun.State.STOPPED, finished_at=timezone.now()):
            return False
        record(run.project, user, "stopped a computation", detail={"computation": run.key, "run": run.pk})
    return True


def can_resume(run: ComputationRun) -> bool:
    """Whether it was stopped or failed, and nothing newer has taken its place."""
    return _resumable().filter(pk=run.pk).exists()


def resume(run: ComputationRun) -> None:
    """A stopped or failed run waits for a worker again, and goes on at its checkpoint. Raises Refused.

    An import does not: a file that was refused stays wrong.
    """
    try:
        with transaction.atomic():
            queued = _resumable().filter(pk=run.pk)
            done = queued.update(state=ComputationRun.State.QUEUED, error="", attempts=0, finished_at=None)
    except IntegrityError as error:
        raise Refused("computation_refused", "Another run is under way. Wait for its end, or stop it first.") from error
    if not done:
        raise Refused(
            "computation_refused",
            "Only the newest run of a computation goes on, once it was stopped or failed, and no import. Start anew.",
        )


def _resumable() -> QuerySet[ComputationRun]:
    newer = ComputationRun.objects.filter(project=OuterRef("project"), key=OuterRef("key"), pk__gt=OuterRef("pk"))
    return ComputationRun.objects.filter(~Exists(newer), state__in=_BROKEN_OFF, file=None)


def run(pk: int) -> int:
    """Compute, or go on from the checkpoint; returns how many items got a result. Running twice changes nothing."""
    with lease(f"computation:{pk}", seconds=LEASE_SECONDS) as held:
        found = ComputationRun.objects.select_related("project", "file").get(pk=pk)
        if held is None or not _begin(found):
            return 0
        try:
            return _run(found, held)
        except (LeaseLostError, StoppedError):
            return 0
        except FormatErrors as error:
            _refuse(found, error)
            return 0
        except Refusal as error:
            # Too few texts, say: the lead reads it, and no code has failed.
            _running(found).update(state=ComputationRun.State.FAILED, error=_why(error), finished_at=timezone.now())
            return 0
        except PASSING:
            # The run stays under way, and is taken up again, or the job says that its time is over.
            raise
        except Exception as error:
            _running(found).update(state=ComputationRun.State.FAILED, error=_why(error), finished_at=timezone.now())
            raise


def fail(pk: int, why: str) -> None:
    """`why` is a sentence for the lead. A run that has ended stays as it is."""
    going_on = ComputationRun.objects.filter(pk=pk, state__in=_GOING_ON)
    going_on.update(state=ComputationRun.State.FAILED, error=why, finished_at=timezone.now())


def _why(error: Exception) -> str:
    """What a lead reads of it: never blank, without the server's folders and what PostgreSQL does not store."""
    text = without_folders(str(error), settings.DATA_DIR).replace("\x00", "").strip()
    return (text or type(error).__name__)[:LONGEST_ERROR]


def unfinished() -> list[int]:
    """Runs that wait or that a crash left; running them again is safe."""
    return list(ComputationRun.objects.filter(state__in=_GOING_ON).order_by("pk").values_list("pk", flat=True))


def _computation(project: Project, key: str) -> Computation:
    found = {each.key: each for each in computations(project)}
    if key not in found:
        raise Refused(
            "computation_refused", f"There is no computation {key!r}; there are: {', '.join(found) or 'none'}."
        )
    return found[key]


def _params(of: Computation, given: Mapping[str, Any]) -> dict[str, Any]:
    faults = [f"There is no parameter {name!r}." for name in given if name not in of.params]
    for name, own in of.params.items():
        faults += _faults(name, given.get(name, own), own, of.options.get(name, Option()))
    if faults:
        raise Refused("computation_refused", " ".join(faults))
    return {**of.params, **given}


def _faults(name: str, value: object, own: object, option: Option) -> Iterator[str]:
    if type(value) is not type(own) and not (type(own) is float and type(value) is int):
        yield f"{name} must be like {own!r}, not {value!r}."
    elif option.choices and value not in option.choices:
        yield f"{name} must be one of {', '.join(option.choices)}, not {value!r}."
    elif option.least is not None and isinstance(value, int | float) and value < option.least:
        yield f"{name} must be {option.least} or more, not {value!r}."
    elif option.most is not None and isinstance(value, int | float) and value > option.most:
        yield f"{name} must be {option.most} or less, not {value!r}."


def _begin(found: ComputationRun) -> bool:
    if found.attempts >= MOST_ATTEMPTS:
        fail(found.pk, TRIED)
        return False
    standing = ComputationRun.objects.filter(pk=found.pk, state__in=_GOING_ON)
    began = found.started_at or timezone.now()
    return bool(standing.update(state=ComputationRun.State.RUNNING, attempts=F("attempts") + 1, started_at=began))


def _running(found: ComputationRun) -> QuerySet[ComputationRun]:
    """The run, unless a lead has stopped it."""
    return ComputationRun.objects.filter(pk=found.pk, state=ComputationRun.State.RUNNING)


def _refuse(found: ComputationRun, error: FormatErrors) -> None:
    """A file with faults leaves nothing behind but their list."""
    found.results.all().delete()
    told = [str(fault) for fault in error.errors[:FAULTS_TOLD]]
    rest = [f"and {error.count - len(told):,} more"] if error.count > len(told) else []
    said = "\n".join(["The file was refused and nothing was imported.", *told, *rest])
    _running(found).update(state=ComputationRun.State.FAILED, error=said, finished_at=timezone.now())


def _run(found: ComputationRun, held: Held) -> int:
    of = _computation(found.project, found.key)
    _forget_others(found)
    writing = _Writing(found, of, held)
    # Whoever stops it ends what it began, such as a reader that still learns.
    with closing(_steps(found, of)) as steps:
        for said in steps:
            if isinstance(said, Found):
                writing.add(said)
            else:
                writing.advance(said)
    return writing.conclude()


def _steps(found: ComputationRun, of: Computation) -> Generator[Progress | Found, None, None]:
    # A parameter that is newer than the run has its default.
    params = {**of.params, **found.params}
    if found.file is None:
        yield from of.run(Rows(found.project), params, found.seed, found.checkpoint)
        return
    if of.outside is None:
        raise Refused("computation_refused", f"{of.title!r} reads no file any more.")
    with TemporaryFile() as file:
        # On the disk: the file itself takes no memory.
        for chunk in found.file.read_chunks():
            file.write(chunk)
        file.seek(0)
        yield from of.outside.read(Rows(found.project), params, found.seed, file)


def _forget_others(found: ComputationRun) -> None:
    """No older run that was broken off can go on now, nor did what this one wrote after its checkpoint count."""
    found.results.filter(pk__gt=found.kept).delete()
    others = found.project.computation_runs.filter(key=found.key, pk__lt=found.pk, state__in=_BROKEN_OFF)
    ComputationResult.objects.filter(run__in=others).delete()
    others.update(kept=0, checkpoint=None)


class _Writing:
    """Writes what a run finds, some rows at a time, and all that came before a checkpoint together with it."""

    def __init__(self, found: ComputationRun, of: Computation, held: Held) -> None:
        self._run = found
        self._held = held
        self._stage = found.project.stages.get(key=of.stage)
        self._of_agreement = found.key == stage_statistics.key_of(self._stage)
        self._waiting: dict[str, dict[str, Any]] = {}
        self._workers: Mapping[str, float] = {}

    def add(self, found: Found) -> None:
        self._waiting[found.key] = _merged(self._waiting.get(found.key, {}), found.data)
        if len(self._waiting) >= CHUNK:
            self._held.renew()
            if not _running(self._run).exists():
                raise StoppedError
            self._write()

    def advance(self, said: Progress) -> None:
        self._held.renew()
        values: dict[str, Any] = {"done": said.done, "total": said.total}
        if said.anew:
            self._waiting.clear()
            self._run.results.all().delete()
            self._run.log = []
            values |= {"log": [], "summary": None, "checkpoint": None, "kept": 0}
        if said.entry is not None:
            self._run.log = [*self._run.log, said.entry]
            values["log"] = self._run.log
        if said.summary is not None:
            values["summary"] = said.summary
        if said.workers is not None:
            self._workers = said.workers
        with transaction.atomic():
            if said.checkpoint is not None:
                self._write()
                last = self._run.results.aggregate(last=Max("pk"))["last"]
                values |= {"checkpoint": said.checkpoint, "kept": last or 0}
                if said.checkpoint != self._run.checkpoint:
                    # It comes forward, however often it is interrupted.
                    values["attempts"] = 0
            if not _running(self._run).update(**values):
                raise StoppedError

    def conclude(self) -> int:
        with transaction.atomic():
            self._write()
            items = self._run.results.count()
            done = {"state": ComputationRun.State.DONE, "finished_at": timezone.now(), "items": items}
            if not _running(self._run).update(**done):
                raise StoppedError
            if self._of_agreement:
                stage_statistics.conclude(self._stage, self._run, self._workers)
        return items

    def _write(self) -> None:
        rows = dict(Item.objects.filter(stage=self._stage, key__in=self._waiting).values_list("key", "pk"))
        there = {row.item_id: row for row in self._run.results.filter(item__in=rows.values())}
        new = []
        for key, pk in rows.items():
            if row := there.get(pk):
                row.data = _merged(row.data, self._waiting[key])
            else:
                new.append(ComputationResult(run=self._run, item_id=pk, data=self._waiting[key]))
        for row in (*there.values(), *new):
            row.confidence = stage_statistics.least_confidence(row.data) if self._of_agreement else None
        ComputationResult.objects.bulk_update(there.values(), ["data", "confidence"])
        ComputationResult.objects.bulk_create(new)
        self._waiting.clear()


def _merged(older: Mapping[str, Any], newer: Mapping[str, Any]) -> dict[str, Any]:
    """Where both have a dictionary under one name, that too is merged."""
    both = {
        name: _merged(older[name], value)
        for name, value in newer.items()
        if isinstance(value, dict) and isinstance(older.get(name), dict)
    }
    return {**older, **newer, **both}
