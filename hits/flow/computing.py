"""Computing: a step over a whole stage that takes no crowd. It shows where it is, can be stopped, and goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from hits.flow.collecting import Rows
from hits.flow.common import usable_recipe
from hits.models import ComputationResult, ComputationRun, Item, Project
from hits.models.leases import Held, LeaseLostError, lease
from hits.models.needs import chunks
from hits.recipes.source import Computation, Found, Progress

# Renewed at each sign of progress; long enough for the longest silence of a computation.
LEASE_SECONDS = 300
CHUNK = 1000


class ComputationRefusedError(Exception):
    """There is no such computation, its parameters do not fit, or a run of it is under way."""


class _Stopped(Exception):
    """A lead stopped the run."""


def computations(project: Project) -> list[Computation]:
    """What the project's recipe computes, in its order; nothing where it cannot be used."""
    recipe = usable_recipe(project)
    return list(getattr(recipe.steps, "COMPUTATIONS", ())) if recipe else []


def start(project: Project, key: str, params: Mapping[str, Any], user: User | None) -> ComputationRun:
    """A run to be taken up by a worker. Raises ComputationRefusedError."""
    wanted = _params(_computation(project, key), params)
    try:
        with transaction.atomic():
            return ComputationRun.objects.create(
                project=project, key=key, params=wanted, seed=project.seed, created_by=user
            )
    except IntegrityError as error:
        raise ComputationRefusedError("It is running already. Wait for its end, or stop it first.") from error


def stop(run: ComputationRun) -> None:
    """The run ends at its next sign of progress; results of the one before it stand."""
    states = [ComputationRun.State.QUEUED, ComputationRun.State.RUNNING]
    ComputationRun.objects.filter(pk=run.pk, state__in=states).update(
        state=ComputationRun.State.STOPPED, finished_at=timezone.now()
    )


def run(pk: int) -> int:
    """Compute, or go on from the checkpoint; returns how many items got a result. Running twice changes nothing."""
    with lease(f"computation:{pk}", seconds=LEASE_SECONDS) as held:
        found = ComputationRun.objects.select_related("project").get(pk=pk)
        if held is None or not _begin(found):
            return 0
        try:
            return _run(found, held)
        except (_Stopped, LeaseLostError):
            return 0
        except Exception as error:
            _running(found).update(state=ComputationRun.State.FAILED, error=f"{error}", finished_at=timezone.now())
            raise


def unfinished() -> list[int]:
    """Runs that wait or that a crash left; running them again is safe."""
    states = [ComputationRun.State.QUEUED, ComputationRun.State.RUNNING]
    return list(ComputationRun.objects.filter(state__in=states).order_by("pk").values_list("pk", flat=True))


def _computation(project: Project, key: str) -> Computation:
    found = {each.key: each for each in computations(project)}
    if key not in found:
        raise ComputationRefusedError(f"There is no computation {key!r}; there are: {', '.join(found) or 'none'}.")
    return found[key]


def _params(of: Computation, given: Mapping[str, Any]) -> dict[str, Any]:
    faults = [f"There is no parameter {name!r}." for name in given if name not in of.params]
    for name, own in of.params.items():
        value = given.get(name, own)
        if type(value) is not type(own) and not (type(own) is float and type(value) is int):
            faults.append(f"{name} must be like {own!r}, not {value!r}.")
    if faults:
        raise ComputationRefusedError(" ".join(faults))
    return {**of.params, **given}


def _begin(found: ComputationRun) -> bool:
    states = [ComputationRun.State.QUEUED, ComputationRun.State.RUNNING]
    standing = ComputationRun.objects.filter(pk=found.pk, state__in=states)
    return bool(standing.update(state=ComputationRun.State.RUNNING, started_at=found.started_at or timezone.now()))


def _running(found: ComputationRun) -> QuerySet[ComputationRun]:
    """The run, unless a lead has stopped it."""
    return ComputationRun.objects.filter(pk=found.pk, state=ComputationRun.State.RUNNING)


def _run(found: ComputationRun, held: Held) -> int:
    of = _computation(found.project, found.key)
    results: dict[str, dict[str, Any]] = {}
    for said in of.run(Rows(found.project), found.params, found.seed, found.checkpoint):
        if isinstance(said, Found):
            results[said.key] = said.data
        else:
            _advance(found, held, said)
    return _conclude(found, of, results)


def _advance(found: ComputationRun, held: Held, said: Progress) -> None:
    held.renew()
    values: dict[str, Any] = {"done": said.done, "total": said.total}
    if said.entry is not None:
        found.log = [*found.log, said.entry]
        values["log"] = found.log
    if said.checkpoint is not None:
        values["checkpoint"] = said.checkpoint
    if not _running(found).update(**values):
        raise _Stopped


def _conclude(found: ComputationRun, of: Computation, results: Mapping[str, dict[str, Any]]) -> int:
    stage = found.project.stages.get(key=of.stage)
    items = 0
    with transaction.atomic():
        for keys in chunks(list(results)):
            rows = Item.objects.filter(stage=stage, key__in=keys).values_list("pk", "key")
            made = [ComputationResult(run=found, item_id=pk, data=results[key]) for pk, key in rows]
            items += len(ComputationResult.objects.bulk_create(made, batch_size=CHUNK))
        if not _running(found).update(state=ComputationRun.State.DONE, finished_at=timezone.now(), items=items):
            raise _Stopped
    return items
